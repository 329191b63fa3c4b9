import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as parser from "@typescript-eslint/parser";
import { ESLint, type Linter } from "eslint";
import { ESLint as ESLint9 } from "eslint9";
import { describe, expect, test } from "vitest";
import plugin from "./index.ts";

const folder = join(import.meta.dirname, "fixtures");
const file = (name: string): string => join(folder, name);

/** What a fixture says of its lines: the findings, and those that only types can tell. */
const expected = (name: string, typed: boolean): readonly (readonly [line: number, finding: string])[] =>
  readFileSync(file(name), "utf8")
    .split("\n")
    .flatMap((text, at) => {
      const comment = /[;)] \/\/ (typed: )?(.+)$/.exec(text);
      if (!comment || (comment[1] !== undefined && !typed)) return [];
      return comment[2]!.split(" ").map((finding) => [at + 1, finding] as const);
    });

const configure = (languageOptions: Linter.LanguageOptions): Linter.Config[] => [
  { files: ["**/*.ts"], languageOptions: { parser, ...languageOptions } },
  plugin.configs.recommended,
];

const typed = configure({
  parserOptions: {
    project: "./tsconfig.json",
    tsconfigRootDir: folder,
    // Where CI=true, the parser takes it that a process lints each file once: for a second time it would know no types.
    disallowAutomaticSingleRunInference: true,
  },
});
const untyped = configure({});

const lint = async (Engine: typeof ESLint, name: string, overrideConfig: Linter.Config[], fix = false) => {
  const engine = new Engine({ cwd: folder, overrideConfigFile: true, overrideConfig, fix });
  const [result] = await engine.lintFiles([file(name)]);
  return result!.messages;
};

describe.each([
  ["ESLint 10", ESLint],
  ["ESLint 9", ESLint9 as unknown as typeof ESLint],
])("%s", (_, Engine) => {
  test.each([
    ["with types", typed, true],
    ["without types", untyped, false],
  ] as const)("finds calls that nobody awaits and outcomes that nobody looks at, %s", async (__, config, knowsTypes) => {
    const found = await lint(Engine, "wrong.ts", [...config]);
    expect(found.map(({ line, messageId }) => [line, messageId])).toEqual(expected("wrong.ts", knowsTypes));
    expect(await lint(Engine, "right.ts", [...config])).toEqual([]);
  });

  test("suggests to await the call, and to throw if the write does not happen", async () => {
    const found = await lint(Engine, "wrong.ts", [...untyped]);
    const suggestion = (id: string) => found.find(({ messageId }) => messageId === id)?.suggestions?.[0]?.fix.text;
    expect([suggestion("neverSent"), suggestion("ignored")]).toEqual(["await ", ".orThrow()"]);
  });
});

test("plain JavaScript, connections of tenants and names of the settings", async () => {
  const code = `
    import { graph } from "./model.js";
    const tenant = graph.connect().as({ tenantId: "a" });
    tenant.user.create({});
    export const handle = (tx, db) => { tx.user.create({}); db.user.create({}); };
    export class Service { async run() { await this.store.user.put({}); } }
  `;
  const run = async (settings: object): Promise<readonly number[]> => {
    const engine = new ESLint({
      cwd: folder,
      overrideConfigFile: true,
      overrideConfig: [plugin.configs.recommended, { settings } as Linter.Config],
    });
    const [result] = await engine.lintText(code, { filePath: file("some.js") });
    return result!.messages.map(({ line }) => line);
  };
  expect(await run({})).toEqual([4, 5]);
  expect(await run({ edgetable: { connections: ["tx", "store"] } })).toEqual([4, 5, 6]);
  expect(await run({ edgetable: { connections: [] } })).toEqual([4]);
});

test("oxlint runs the rules as a plugin in JavaScript", () => {
  const require = createRequire(import.meta.url);
  const oxlint = join(dirname(require.resolve("oxlint/package.json")), "bin/oxlint");
  const run = (name: string): readonly (readonly [number, string])[] => {
    const { stdout } = spawnSync(process.execPath, [oxlint, "-c", "oxlintrc.json", "--format", "json", name], {
      cwd: folder,
      encoding: "utf8",
    });
    const { diagnostics } = JSON.parse(stdout) as {
      readonly diagnostics: readonly { code: string; message: string; labels: readonly { span: { line: number } }[] }[];
    };
    return diagnostics
      .filter(({ code }) => code.startsWith("@edgetable"))
      .map(({ message, labels }) => [labels[0]!.span.line, message] as const);
  };
  const ids = { neverSent: "This call is never sent", unawaited: "Nobody awaits", ignored: "This write may not happen" };
  const found = run("wrong.ts").toSorted(([a], [b]) => a - b);
  const names = found.map(([line, message]) => [line, Object.entries(ids).find(([, text]) => message.startsWith(text))?.[0]]);
  expect(names).toEqual(expected("wrong.ts", false));
  expect(run("right.ts")).toEqual([]);
});

test("the plugin names the version of its package", () => {
  const { name, version } = JSON.parse(readFileSync(join(folder, "../../package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
  };
  expect(plugin.meta).toMatchObject({ name, version });
});
