import type { System } from "../system.ts";

const line = ({ name, title, argument }: System, width: number): string => {
  const call = argument ? `${name} [${argument.name}]` : name;
  return `  ${call.padEnd(width)}  ${title}`;
};

/** What `--help` prints. */
export const helpText = (systems: readonly System[]): string => {
  const width = Math.max(...systems.map(({ name, argument }) => name.length + (argument ? argument.name.length + 3 : 0)));
  const further = systems.flatMap(({ name, argument }) => (argument ? [`  npm run demo -- ${name} ../shop/package-lock.json`] : []));
  return [
    "Usage: npm run demo -- [system] [options]",
    "",
    "Starts an engine in memory, creates each system's table, writes its rows, asks every",
    "access pattern, and checks each answer against the published one.",
    "RCU predicted come from the model alone, before anything is sent; RCU consumed from the engine.",
    "",
    "Systems (all of them when none is named):",
    ...systems.map((system) => line(system, width)),
    "",
    "Options:",
    "  --json      the same as JSON, on standard output",
    "  -h, --help  this text",
    "",
    "Examples:",
    "  npm run demo",
    "  npm run demo -- tracker",
    ...further,
    "  npm run --silent demo -- --json education | jq '.systems[].tables[].patterns[].requests'",
    "",
    "Exit codes: 0 every answer is right, 1 one is not or the run failed, 2 wrong use, 130 interrupted.",
    "Colour goes to a terminal only; NO_COLOR and FORCE_COLOR decide otherwise.",
    "",
  ].join("\n");
};
