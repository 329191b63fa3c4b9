import { expect, test } from "vitest";
import { people } from "../schema/adopted-models.test-support.ts";
import { buildCatalog } from "../schema/build-catalog.ts";
import { shapeOf } from "./decode-item.ts";

test("an item is no node under its own id when its two keys hold different ids", () => {
  const catalog = buildCatalog(people);
  const typeOf = (partition: string, sort: string): string | undefined =>
    shapeOf(catalog, catalog.shapes, { NodeId: { S: partition }, TypeTarget: { S: sort } })?.id;
  expect(typeOf("6", "SKILL|6")).toBe("skill");
  expect(typeOf("1", "SKILL|6")).toBe("has");
});
