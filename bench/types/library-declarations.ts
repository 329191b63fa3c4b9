import { execFile } from "node:child_process";
import { cp, rm } from "node:fs/promises";
import { extname } from "node:path";
import { promisify } from "node:util";
import { compilers } from "./compile.ts";

/** Puts the library's declarations into `dist/edgetable-types`: those of the build if EDGETABLE_BUILT says that it is new. */
export const emitLibraryDeclarations = async (): Promise<void> => {
  const outDir = "dist/edgetable-types";
  await rm(outDir, { recursive: true, force: true });
  if (process.env.EDGETABLE_BUILT === "1") {
    const isWanted = (path: string): boolean => path.endsWith(".d.ts") || !extname(path);
    return cp("../packages/edgetable/dist", outDir, { recursive: true, filter: isWanted });
  }
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
