import { expect, test } from "vitest";
import { z } from "zod";
import { checkModel, type ModelFinding } from "../check-model.ts";
import { type GraphDefinition, edge, node, part } from "../definition.ts";

export type Loose = Readonly<Record<string, unknown>>;
export const text = z.string();
export const user = (more: Loose = {}): never => node({ key: "USER#{id}", schema: z.object({ id: text, name: text }), ...more }) as never;
export const team = (more: Loose = {}): never =>
  node({ key: "TEAM#{teamId}", schema: z.object({ teamId: text, owner: text }), ...more }) as never;
export const link = (more: Loose = {}): never =>
  edge({ from: "user", to: "team", schema: z.object({ role: text, at: text }), ...more }) as never;
export const item = (more: Loose = {}): never =>
  part({ of: "team", key: "ITEM#{n:4}", schema: z.object({ n: z.int(), note: text }), ...more }) as never;
export const model = (more: Loose = {}): GraphDefinition => ({ table: "Teams", nodes: { user: user(), team: team() }, ...more });
export const withEdge = (more: Loose, name = "joins"): GraphDefinition => model({ edges: { [name]: link(more) } });
export const inLayout = (layout: Loose, more: Loose = {}): GraphDefinition =>
  model({ layout: { partitionKey: "PK", sortKey: "SK", ...layout }, ...more });
export const reverse = { byTeam: { partitionKey: "G1", sortKey: "G2" } };
export const joined = { edges: { joins: link() } };

export const found = (definition: GraphDefinition, rule: ModelFinding["rule"]): ModelFinding => {
  const findings = checkModel(definition);
  expect(findings.map((one) => one.rule)).toEqual([rule]);
  return findings[0] as ModelFinding;
};

export interface Case {
  readonly model: GraphDefinition;
  readonly rule: ModelFinding["rule"];
  readonly place: string;
  /** Texts that the message must hold: the value, what is wrong, the mend. */
  readonly says: readonly string[];
}

export const cases = (all: Readonly<Record<string, Case>>): void => {
  test.each(Object.entries(all))("%s", (_, one) => {
    const finding = found(one.model, one.rule);
    expect(finding.place).toBe(one.place);
    for (const words of one.says) expect(finding.message).toContain(words);
  });
};
