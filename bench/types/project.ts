/** A generated project: its files by name. `definitions.ts` is the file whose `.d.ts` is weighed. */
export interface Project {
  readonly files: Readonly<Record<string, string>>;
}

/** How a project is generated for `count` definitions. */
export type Generator = (count: number) => Project;

export const upTo = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");
