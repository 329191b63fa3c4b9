import { compile } from "./compile.ts";
import type { Compiler, CompilerCost } from "./compile.ts";
import { edgetable, edgetableMisspelt, edgetableSchemas } from "./projects/edgetable.ts";
import { electrodb } from "./projects/electrodb.ts";
import { onetable } from "./projects/onetable.ts";
import { toolbox } from "./projects/toolbox.ts";
import { emitLibraryDeclarations } from "./library-declarations.ts";
import type { Generator } from "./project.ts";

/** What stands in a generated project. */
export const generators = { electrodb, toolbox, onetable, edgetable, edgetableMisspelt, edgetableSchemas } as const satisfies Record<
  string,
  Generator
>;
export type TypedProject = keyof typeof generators;

export interface TypesPlan {
  readonly projects: readonly TypedProject[];
  readonly counts: readonly number[];
  readonly compilers: readonly Compiler[];
}

export interface TypesCost extends CompilerCost {
  readonly project: TypedProject;
  readonly count: number;
  readonly compiler: Compiler;
}

/** Compiles every project at every count with every compiler, one at a time, each in a fresh process. */
export const runTypes = async (plan: TypesPlan, log: (line: string) => void): Promise<readonly TypesCost[]> => {
  const costs: TypesCost[] = [];
  await emitLibraryDeclarations();
  for (const compiler of plan.compilers) {
    for (const project of plan.projects) {
      for (const count of plan.counts)
        costs.push({ project, count, compiler, ...(await compile(`${project}-${count}`, generators[project](count), compiler)) });
    }
    log(`types: ${compiler}`);
  }
  return costs;
};
