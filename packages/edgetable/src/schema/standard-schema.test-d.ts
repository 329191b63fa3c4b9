import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expectTypeOf, test } from "vitest";
import type { StandardSchema } from "./standard-schema.ts";

test("whatever implements the published Standard Schema interface describes a node's or an edge's attributes", () => {
  expectTypeOf<StandardSchemaV1<string, number>>().toExtend<StandardSchema<string, number>>();
  expectTypeOf<StandardSchemaV1<string, number>>().not.toExtend<StandardSchema<string, string>>();
});
