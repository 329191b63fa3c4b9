import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import type { BuildOptions } from "esbuild";
import { productionEntry } from "./library.ts";

/** The SDK as every candidate's users already have it. */
export const sdkPackages = ["@aws-sdk/*", "@smithy/*"];

/** What stays outside even where the SDK is bundled: optional peers, which an application on the lean transport does not install. */
export const optionalPeersOf = (candidate: string): string[] =>
  candidate.startsWith("edgetable") ? ["@aws-sdk/client-dynamodb", "@aws-sdk/credential-provider-node"] : [];

/** As for a function in production: minified, our library as it ships for production. Paths start at the bench's folder. */
const inProduction = (contents: string) =>
  ({
    stdin: { contents, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    minify: true,
    platform: "node",
    target: "node20",
    format: "esm",
    // The SDK's ES modules drop what is not used; its CommonJS build does not.
    mainFields: ["module", "main"],
    alias: { edgetable: productionEntry },
    legalComments: "none",
    logLevel: "error",
  }) satisfies BuildOptions;

/** Bundles one program into one file. */
export const bundle = async (contents: string, options: Pick<BuildOptions, "format" | "external"> = {}): Promise<Uint8Array> => {
  const { outputFiles } = await build({ ...inProduction(contents), write: false, ...options });
  return (outputFiles[0] as { readonly contents: Uint8Array }).contents;
};

/** Bundles one program into a folder of modules, its own called `program.mjs`: what it loads late stays in files of its own. */
export const bundleSplit = async (contents: string, outdir: string, external: string[]): Promise<void> => {
  await build({
    ...inProduction(contents),
    splitting: true,
    outdir,
    entryNames: "program",
    outExtension: { ".js": ".mjs" },
    external,
  });
};

export interface Size {
  readonly minified: number;
  readonly gzip: number;
}

export const sizeOf = (code: Uint8Array): Size => ({ minified: code.byteLength, gzip: gzipSync(code, { level: 9 }).byteLength });
