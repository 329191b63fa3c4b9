import { describe, expect, test } from "vitest";
import { z } from "zod";
import { assertModel } from "../schema/check-model.ts";
import { type GraphDefinition, edge, node } from "../schema/definition.ts";
import type { Layout } from "../schema/layout.ts";
import { checkGraph, type Advice, type CheckedPattern } from "./index.ts";

// Small models for the rules of `check`.

type Loose = Readonly<Record<string, unknown>>;
const text = z.string();
export const user = (more: Loose = {}): never =>
  node({ key: "USER#{id}", schema: z.object({ id: text, name: text, active: z.boolean() }), ...more }) as never;
export const team = (more: Loose = {}): never =>
  node({ key: "TEAM#{teamId}", schema: z.object({ teamId: text, owner: text }), ...more }) as never;
export const joins = (more: Loose = {}): never => edge({ from: "user", to: "team", schema: z.object({ role: text }), ...more }) as never;
export const inLayout = (layout: Partial<Layout>, more: Loose = {}): GraphDefinition => ({
  table: "Teams",
  nodes: { user: user(), team: team() },
  layout: { partitionKey: "PK", sortKey: "SK", ...layout },
  ...more,
});
export const indexes = { gsi: { partitionKey: "G1", sortKey: "G2" } };

/** The advice of one rule. */
export const about = (definition: GraphDefinition, rule: string, patterns: readonly CheckedPattern[] = []): readonly Advice[] =>
  checkGraph(assertModel(definition), patterns).filter((advice) => advice.rule === rule);

interface Case {
  readonly model: GraphDefinition;
  readonly advice: readonly (Omit<Advice, "rule" | "message" | "mend"> & { readonly says: readonly string[] })[];
}

/** Tests the advice that one rule gives on models. */
export const cases = (rule: string, all: Readonly<Record<string, Case>>): void => {
  describe(rule, () => {
    test.each(Object.entries(all))("%s", (_, { model, advice }) => {
      const given = about(model, rule);
      expect(given.map(({ concern, definition, severity }) => ({ concern, definition, severity }))).toEqual(
        advice.map(({ says: _says, ...rest }) => rest),
      );
      for (const [at, { says }] of advice.entries())
        for (const words of says) expect(`${given[at]?.message} ${given[at]?.mend}`).toContain(words);
    });
  });
};

export const warning = (concern: Advice["concern"], definition: string, ...says: readonly string[]) => ({
  concern,
  definition,
  severity: "warning" as const,
  says,
});
export const note = (concern: Advice["concern"], definition: string, ...says: readonly string[]) => ({
  concern,
  definition,
  severity: "note" as const,
  says,
});
