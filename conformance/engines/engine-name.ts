export type EngineName = "dynoxide" | "dynamodb-local";

const names: readonly EngineName[] = ["dynoxide", "dynamodb-local"];

/** The engine that EDGETABLE_TEST_ENGINE asks for. @default "dynoxide" */
export const testEngineName = (environment: Readonly<Record<string, string | undefined>> = process.env): EngineName => {
  const asked = environment["EDGETABLE_TEST_ENGINE"] ?? "dynoxide";
  const known = names.find((name) => name === asked);
  if (known === undefined) throw new Error(`EDGETABLE_TEST_ENGINE is ${JSON.stringify(asked)}: give one of ${names.join(", ")}`);
  return known;
};
