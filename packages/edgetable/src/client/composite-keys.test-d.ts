import { expectTypeOf, test } from "vitest";
import type { IndexLayout, Layout } from "../index.ts";

test("a key of an index is one name or a list; a key of the table is one name", () => {
  expectTypeOf<{ readonly partitionKey: readonly ["a", "b"]; readonly sortKey: readonly ["c"] }>().toExtend<IndexLayout>();
  expectTypeOf<{ readonly partitionKey: "a"; readonly sortKey: readonly string[] }>().toExtend<IndexLayout>();
  expectTypeOf<{ readonly partitionKey: readonly [1] }>().not.toExtend<IndexLayout>();
  expectTypeOf<{ readonly partitionKey: readonly ["a"] }>().not.toExtend<Layout>();
});
