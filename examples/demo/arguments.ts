import { parseArgs } from "node:util";
import type { System } from "../system.ts";
import type { SectionName } from "./story-text.ts";

/** A parsed command line. */
export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "misuse"; readonly message: string }
  | {
      readonly kind: "run";
      readonly systems: readonly System[];
      /** The sections that follow the systems. */
      readonly sections: readonly SectionName[];
      readonly argument: string | undefined;
      readonly json: boolean;
      /** What is printed: every pattern and chapter, or a summary and one system in full. */
      readonly shown: "everything" | "summary";
      /** The studio is opened on the one system's table. */
      readonly studio: boolean;
    };

const sectionTitles: Readonly<Record<SectionName, string>> = {
  truth: "Copies, counts, sums and an index that stay true while data and model change",
  fields: "Fields that users define while the program runs, and grids sorted by them",
  totals: "The same totals by transaction, by stream and by a batch job in DuckDB",
};

const sectionNames = Object.keys(sectionTitles) as SectionName[];

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};

const FARTHEST = 3;

const nearest = (name: string, known: readonly string[]): string | undefined => {
  const [best] = known.map((one) => ({ one, far: distance(name.toLowerCase(), one) })).toSorted((a, b) => a.far - b.far);
  return best && (best.far <= FARTHEST || best.one.startsWith(name.toLowerCase()))
    ? best.one
    : known.find((one) => one.startsWith(name.toLowerCase()));
};

// Node's own message continues with advice on positional arguments.
const unknownOption = (message: string): string | undefined => {
  const option = /^Unknown option '(?<option>[^']+)'/.exec(message)?.groups?.["option"];
  return option === undefined ? undefined : `There is no option ${option}. The options are --studio, --json and --help.`;
};

const ALL = "all";

const misuse = (message: string): Command => ({ kind: "misuse", message });

const unknownSystem = (name: string, systems: readonly System[]): Command => {
  const names = [...systems.map((system) => system.name), ...sectionNames, ALL];
  const guess = nearest(name, names);
  return misuse(
    `There is no system "${name}".${guess === undefined ? "" : ` Did you mean "${guess}"?`} The systems are ${names.join(", ")}.`,
  );
};

interface Flags {
  readonly json: boolean;
  readonly studio: boolean;
}

const choose = (positionals: readonly string[], systems: readonly System[], { json, studio }: Flags): Command => {
  const [name, argument, ...rest] = positionals;
  const shown = name === undefined ? "summary" : "everything";
  if (studio && json) return misuse("Use only one of --studio and --json.");
  if (name === undefined || (name === ALL && argument === undefined))
    return studio
      ? misuse("--studio shows one system: npm run demo -- education --studio")
      : { kind: "run", systems, sections: sectionNames, argument: undefined, shown, json, studio };
  const section = sectionNames.find((one) => one === name);
  if (section && argument === undefined) return { kind: "run", systems: [], sections: [section], argument, shown, json, studio };
  const system = systems.find((one) => one.name === name);
  if (!system && !section) return unknownSystem(name, systems);
  if (!system || (argument !== undefined && !system.argument))
    return misuse(`"${name}" takes no argument, but "${argument ?? ""}" was given. Name one system, or "${ALL}".`);
  if (rest.length > 0) return misuse(`"${name}" takes only one argument; remove ${rest.join(" ")}.`);
  return { kind: "run", systems: [system], sections: [], argument, shown, json, studio };
};

/** Parses the command line. */
export const readArguments = (given: readonly string[], systems: readonly System[]): Command => {
  try {
    const { values, positionals } = parseArgs({
      args: [...given],
      allowPositionals: true,
      options: {
        studio: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    return values.help ? { kind: "help" } : choose(positionals, systems, values);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return misuse(unknownOption(message) ?? message);
  }
};

const systemLine = ({ name, title, argument }: System, width: number): string => {
  const call = argument ? `${name} [${argument.name}]` : name;
  return `  ${call.padEnd(width)}  ${title}`;
};

/** The text of `--help`. */
export const helpText = (systems: readonly System[]): string => {
  const width = Math.max(...systems.map(({ name, argument }) => name.length + (argument ? argument.name.length + 3 : 0)));
  const further = systems.flatMap(({ name, argument }) => (argument ? [`  npm run demo -- ${name} ../shop/package-lock.json`] : []));
  return [
    "Usage: npm run demo -- [system] [options]",
    "",
    "Starts an in-memory engine, creates each system's table, writes its rows, runs every",
    "access pattern, and compares each result with the published one.",
    "Then changes one table, and shows who keeps the facts that follow, and what it costs;",
    "lets a project's users define a field, and sorts a grid by it; and keeps totals three ways.",
    "RCU predicted are calculated from the model before sending; RCU consumed are from the engine.",
    "",
    "Without a name it prints a summary of everything, and one system in full.",
    "",
    "Systems and sections:",
    ...systems.map((system) => systemLine(system, width)),
    ...sectionNames.map((name) => `  ${name.padEnd(width)}  ${sectionTitles[name]}`),
    `  ${ALL.padEnd(width)}  Everything, pattern by pattern`,
    "",
    "Options:",
    "  --studio    then serve the studio on the system's table, until Ctrl-C",
    "  --json      print the results as JSON on standard output",
    "  -h, --help  print this text",
    "",
    "Examples:",
    "  npm run demo",
    "  npm run demo -- tracker",
    "  npm run demo -- all | less",
    "  npm run demo -- education --studio",
    ...further,
    "  npm run --silent demo -- --json education | jq '.systems[].tables[].patterns[].requests'",
    "",
    "Exit codes: 0 all results match, 1 a result differs or the run failed, 2 incorrect usage, 130 interrupted.",
    "Colour is used on terminals only, unless NO_COLOR or FORCE_COLOR override it.",
    "",
  ].join("\n");
};
