import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import type { Project } from "./project.ts";

/** What the compiler spent on a project, by its own account. */
export interface CompilerCost {
  readonly instantiations: number;
  /** Megabytes at the end of the check. */
  readonly memory: number;
  readonly seconds: number;
  /** Kilobytes of `definitions.d.ts`, and of the `.d.ts` of the functions that query and update. */
  readonly declarations: number;
  readonly useDeclarations: number;
  readonly errors: number;
}

// Ours is resolved as an installed package would be: to declarations, not to sources.
const libraryDeclarations = { edgetable: ["../../edgetable-types/index.d.ts"] };

const configuration = {
  compilerOptions: {
    target: "ES2023",
    lib: ["ES2023"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    types: ["node"],
    strict: true,
    skipLibCheck: true,
    declaration: true,
    outDir: "out",
    rootDir: ".",
    rewriteRelativeImportExtensions: true,
    paths: libraryDeclarations,
  },
  files: ["definitions.ts", "use.ts"],
};

export const compilers = { typescript: "../node_modules/typescript/bin/tsc", typescript7: "../node_modules/typescript7/bin/tsc" } as const;
export type Compiler = keyof typeof compilers;

const output = (compiler: Compiler, folder: string): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, [compilers[compiler], "-p", folder, "--extendedDiagnostics"], { maxBuffer: 1 << 28 }, (_, stdout) =>
      resolve(stdout),
    );
  });

const figure = (text: string, name: string): number => {
  const found = new RegExp(`^${name}:\\s+([\\d.]+)(K|s)?`, "m").exec(text);
  if (!found) throw new Error(`the compiler reported no "${name}":\n${text.slice(0, 2000)}`);
  return Number(found[1]);
};

const bytesOf = async (file: string): Promise<number> => (await readFile(file).catch(() => Buffer.alloc(0))).byteLength;

/** Writes the project under `dist/types/<name>` and compiles it in a fresh process. */
export const compile = async (name: string, project: Project, compiler: Compiler): Promise<CompilerCost> => {
  const folder = `dist/types/${name}`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/tsconfig.json`, JSON.stringify(configuration));
  for (const [file, text] of Object.entries(project.files)) await writeFile(`${folder}/${file}`, text);
  const text = await output(compiler, folder);
  return {
    instantiations: figure(text, "Instantiations"),
    memory: figure(text, "Memory used") / 1024,
    seconds: figure(text, "Total time"),
    declarations: (await bytesOf(`${folder}/out/definitions.d.ts`)) / 1024,
    useDeclarations: (await bytesOf(`${folder}/out/use.d.ts`)) / 1024,
    errors: text.split("\n").filter((line) => line.includes("error TS")).length,
  };
};
