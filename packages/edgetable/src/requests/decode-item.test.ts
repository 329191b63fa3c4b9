import { expect, test } from "vitest";
import { z } from "zod";
import { trackerPublished } from "../schema/adopted-models.test-support.ts";
import { buildCatalog } from "../schema/build-catalog.ts";
import { node } from "../schema/definition.ts";
import { decodeItem } from "./decode-item.ts";
import { encodeItem } from "./encode-item.ts";

test("an edge inside its source's item has its own attributes, and not the node's", () => {
  const catalog = buildCatalog(trackerPublished);
  const item = { PK: { S: "issue-af34" }, SK: { S: "project-35e9" }, Data: { S: "000003" }, Name: { S: "Girder" }, State: { S: "open" } };
  expect(decodeItem(catalog, catalog.shapesById["inProject"]!, item)).toEqual({
    from: { issueId: "af34" },
    to: { projectId: "35e9" },
    num: 3,
  });
  expect(
    decodeItem(catalog, catalog.shapesById["ofTenant"]!, { PK: { S: "project-1" }, SK: { S: "tenant-2" }, Data: { S: "News" } }),
  ).toEqual({ from: { projectId: "1" }, to: { tenantId: "2" } });
});

test("an attribute may be called as what every object has", () => {
  const racer = node({ key: "RACER#{id}", schema: z.object({ id: z.string(), constructor: z.string() }) });
  const catalog = buildCatalog({ table: "Races", nodes: { racer } });
  const row = { id: "R1", constructor: "Lotus" };
  const item = encodeItem(catalog, catalog.shapesById["racer"]!, row);
  expect(item).toMatchObject({ constructor: { S: "Lotus" } });
  expect(decodeItem(catalog, catalog.shapesById["racer"]!, item)).toEqual(row);
});
