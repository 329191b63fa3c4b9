import { noFloatingCalls } from "./no-floating-calls.ts";
import { noIgnoredOutcomes } from "./no-ignored-outcomes.ts";
import type { Rule } from "./rule-types.ts";

/** The plugin, with its rules and a configuration that turns both on. */
export interface Plugin {
  readonly meta: { readonly name: string; readonly version: string; readonly namespace: string };
  readonly rules: { readonly "no-floating-calls": Rule; readonly "no-ignored-outcomes": Rule };
  readonly configs: { readonly recommended: Config };
}

/** A configuration object of ESLint's flat format. */
export interface Config {
  readonly name: string;
  readonly plugins: Record<string, Omit<Plugin, "configs">>;
  readonly rules: Record<string, "error">;
}

const parts: Omit<Plugin, "configs"> = {
  meta: { name: "@edgetable/eslint-plugin", version: "0.1.0", namespace: "@edgetable" },
  rules: { "no-floating-calls": noFloatingCalls, "no-ignored-outcomes": noIgnoredOutcomes },
};

/**
 * Rules for programs that use Edgetable, for ESLint 9 and 10 and for oxlint.
 *
 * @example
 * // eslint.config.js
 * export default [edgetable.configs.recommended];
 */
const plugin: Plugin = {
  ...parts,
  configs: {
    recommended: {
      name: "@edgetable/recommended",
      plugins: { "@edgetable": parts },
      rules: { "@edgetable/no-floating-calls": "error", "@edgetable/no-ignored-outcomes": "error" },
    },
  },
};

// oxlint-disable-next-line import/no-default-export -- a linter loads a plugin by its default export
export default plugin;
export type { Rule };
