import fc from "fast-check";
import type { AttributeValue } from "edgetable";
import ts from "typescript";
import { expect, test } from "vitest";
import { propertyRuns } from "../engines/property-runs.ts";
import { draftModel } from "../../packages/cli/src/draft/draft-model.ts";
import { draftText } from "../../packages/cli/src/draft/draft-text.ts";

const word = fc.constantFrom(
  "USER",
  "order",
  "a",
  "#",
  "{x}",
  "v1",
  "v2",
  "12",
  "007",
  "2024-01-02T03:04:05.678Z",
  "",
  "~",
  "$e_1",
  "METADATA",
  "é\u2028*/",
  "constructor",
);
const keyText = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join("#") || "x");
const value: fc.Arbitrary<AttributeValue> = fc.oneof(
  word.map((S) => ({ S })),
  fc.integer().map((N) => ({ N: String(N) })),
  fc.constant({ BOOL: true }),
  fc.constant({ NULL: true } as const),
  fc.constant({ SS: ["a", "b"] }),
  fc.constant({ L: [{ S: "a" }, { N: "1" }] }),
  fc.constant({ M: { "a.b": { S: "x" } } }),
);
const name = fc.constantFrom(
  "type",
  "from",
  "to",
  "a.b",
  "constructor",
  "userId",
  "find",
  "n",
  "é",
  "x y",
  "GSI1PK",
  "GSI1SK",
  "version",
  "whole",
  "`${x}`",
);
const item = fc.record({ PK: keyText, SK: keyText, rest: fc.dictionary(name, value, { maxKeys: 5 }) }).map(({ PK, SK, rest }) => {
  const all: Record<string, AttributeValue> = { ...rest, PK: { S: PK }, SK: { S: SK } };
  // An index key is a text that is not empty.
  for (const key of ["GSI1PK", "GSI1SK"]) if (all[key] && (!("S" in all[key]) || all[key].S === "")) delete all[key];
  return all;
});

test("a draft of any items is valid TypeScript, and its report is true", () => {
  fc.assert(
    fc.property(fc.uniqueArray(item, { minLength: 1, maxLength: 12, selector: ({ PK, SK }) => JSON.stringify([PK, SK]) }), (items) => {
      const report = draftModel({
        name: "Table",
        partitionKey: "PK",
        sortKey: "SK",
        types: {},
        indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
        settings: {},
        items,
      });
      const { diagnostics } = ts.transpileModule(draftText(report), { reportDiagnostics: true });
      expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
      expect(report.graph === undefined).toBe(report.findings.length > 0);
      if (report.graph) expect(report.rewritten + report.misfits.length).toBe(report.items);
    }),
    propertyRuns(60),
  );
});
