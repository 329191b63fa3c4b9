import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";
import { compilers } from "./compile.ts";

/** Emits the library's declarations into `dist/edgetable-types`, beside whatever build there is. */
export const emitLibraryDeclarations = async (): Promise<void> => {
  const outDir = "dist/edgetable-types";
  await rm(outDir, { recursive: true, force: true });
  const flags = [
    "--emitDeclarationOnly",
    "--isolatedDeclarations",
    "false",
    "--composite",
    "false",
    "--incremental",
    "false",
    "--tsBuildInfoFile",
    "null",
    "--outDir",
    outDir,
  ];
  await promisify(execFile)(process.execPath, [compilers.typescript, "-p", "../packages/edgetable", ...flags], { maxBuffer: 1 << 26 });
};
