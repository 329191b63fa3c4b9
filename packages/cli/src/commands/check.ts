import { setTimeout } from "node:timers/promises";
import type { AnyGraph, ScanReport, StrayItem } from "edgetable";
import { checkGraph, type Advice } from "edgetable/check";
import { connectOptions, withDb } from "../connection.ts";
import { exitCode } from "../exit-codes.ts";
import { usageError } from "../failure.ts";
import { defineCommand, note, printJson, wholeNumber, type CommandSpec, type Invocation } from "../invocation.ts";
import { loadModel, planPatterns, type Model, type PlannedPattern } from "../model.ts";
import { counted, showKey, showUnits } from "../output/explanation.ts";
import { showCell } from "../output/table.ts";
import { createProgress, progressEvery, wrap, type Style } from "../output/terminal.ts";

interface Options {
  readonly strict?: boolean;
  readonly data?: boolean;
  readonly units?: number;
  readonly limit?: number;
}

/** Advice, a pattern without a plan (its rule is the error's code), or a problem in the stored data. */
type Finding = Omit<Advice, "concern"> & {
  readonly table: string;
  readonly concern?: Advice["concern"];
  /** Items or edges with this problem in the stored data, and the first of them. */
  readonly count?: number;
  readonly examples?: readonly object[];
};

const modelFindings = async ({ graphs, patterns }: Model): Promise<Finding[]> => {
  const findings: Finding[] = [];
  for (const { value: graph } of graphs) {
    const { table } = graph.catalog;
    const planned: PlannedPattern[] = [];
    for (const { value } of patterns) if (value.graph === graph) planned.push(...(await planPatterns(value)));
    for (const { name, problem } of planned) {
      if (!problem) continue;
      const mend = `See ${problem.docs ?? "docs/errors.md"}.`;
      findings.push({ rule: problem.code, definition: name, severity: "error", message: problem.message, mend, table });
    }
    const asked = planned.flatMap(({ name, explanation }) => (explanation ? [{ name, explanation }] : []));
    for (const advice of checkGraph(graph, asked)) findings.push({ ...advice, table });
  }
  return findings;
};

/** Read units per second if `--units` does not say. */
const DEFAULT_UNITS = 100;
/** Examples per finding; a scan's report keeps as many. */
const MAX_EXAMPLES = 10;

interface TableScan {
  readonly report: ScanReport;
  readonly strays: readonly StrayItem[];
  /** Whether `--limit` ended it. */
  readonly stopped: boolean;
}

/** Scans a table at the given pace. Only a row or a page passes control to this loop, so the limit is approximate. */
const scanTable = (call: Invocation<Options>, graph: AnyGraph): Promise<TableScan> =>
  withDb(graph, connectOptions(call), async (db) => {
    const { io, options } = call;
    const { units = DEFAULT_UNITS, limit = Number.POSITIVE_INFINITY } = options;
    const strays: StrayItem[] = [];
    const progress = createProgress(io);
    const stop = new AbortController();
    const scan = db.scan({
      signal: AbortSignal.any([io.signal, stop.signal]),
      onStray: (stray) => void (strays.length < MAX_EXAMPLES && strays.push(stray)),
      onProgress: ({ items, stray, cost }) => {
        progress.show(`${counted(items, "item")} read, ${counted(stray, "item")} unreadable, ${showUnits(cost.readUnits)}`);
        if (items >= limit) stop.abort();
      },
      progressEvery: limit === Number.POSITIVE_INFINITY ? progressEvery(io) : 1,
    });
    const began = performance.now();
    let rows = 0;
    try {
      for await (const _row of scan) {
        if (scan.report().items >= limit) break;
        if (++rows % 100 !== 0) continue;
        const due = (scan.report().cost.readUnits / units) * 1000 - (performance.now() - began);
        // If the signal ends the pause, the scan's next request fails with it.
        if (due > 0) await setTimeout(due, undefined, { signal: io.signal }).catch(() => undefined);
      }
    } catch (error) {
      if (!stop.signal.aborted || io.signal.aborted) throw error;
    } finally {
      progress.clear();
    }
    const report = scan.report();
    return { report, strays, stopped: report.position !== undefined };
  });

const dataFindings = (table: string, { report, strays }: TableScan): readonly Finding[] => {
  const { stray, drifted, uneven } = report;
  const findings: Finding[] = [];
  const list = (head: string, lines: readonly string[], count: number): string =>
    [`${head}:`, ...lines, ...(count > lines.length ? [`… and ${count - lines.length} more`] : [])].join("\n");
  if (stray > 0)
    findings.push({
      rule: "data.unreadable",
      definition: table,
      severity: "error",
      table,
      message: list(
        `${counted(stray, "item")} cannot be read with this model`,
        strays.map(({ key, reason }) => `${showKey(key)}: ${reason}`),
        stray,
      ),
      mend: "Reads skip these items. Correct the items, or declare their type in the model.",
      count: stray,
      examples: strays.map(({ key, reason }) => ({ key, reason })),
    });
  if (drifted.items > 0)
    findings.push({
      rule: "data.drifted",
      definition: table,
      severity: "error",
      table,
      message: list(
        `${drifted.items === 1 ? "1 item has" : `${counted(drifted.items, "item")} have`} an attribute that differs from ${drifted.items === 1 ? "its" : "their"} key`,
        drifted.first.map(
          ({ key, field, value, copy }) => `${showKey(key)}: ${field} is "${showCell(value)}" in the key, "${showCell(copy)}" beside it`,
        ),
        drifted.items,
      ),
      mend: "Reads use the value in the key. Write the attribute again, or move the item to the right key.",
      count: drifted.items,
      examples: drifted.first,
    });
  if (uneven > 0)
    findings.push({
      rule: "data.unevenEdge",
      definition: table,
      severity: "warning",
      table,
      message: `${counted(uneven, "edge")} ${uneven === 1 ? "has" : "have"} a copy that is missing or incomplete.`,
      mend: "A read from the other end does not show these edges in full. Write them again with put.",
      count: uneven,
    });
  return findings;
};

const paint: Readonly<Record<Advice["severity"], "red" | "yellow" | "cyan">> = { error: "red", warning: "yellow", note: "cyan" };

const render = ({ severity, definition, rule, concern, message, mend }: Finding, style: Style, columns: number | undefined): string => {
  const width = (columns ?? Number.POSITIVE_INFINITY) - 2;
  const lines = [...wrap(message, width), ...wrap(mend, width)];
  return `${style[paint[severity]](severity)}  ${style.bold(definition)}  ${style.dim(concern === undefined ? rule : `${rule} · ${concern}`)}\n${lines.map((line) => `  ${line}\n`).join("")}`;
};

const count = (findings: readonly Finding[], severity: Advice["severity"]): number =>
  findings.filter((one) => one.severity === severity).length;

const print = ({ io, style }: Invocation<Options>, findings: readonly Finding[], { file, graphs }: Model): void => {
  for (const table of new Set(graphs.map(({ value }) => value.catalog.table))) {
    const own = findings.filter((one) => one.table === table);
    if (graphs.length > 1 && own.length > 0) io.out.write(`${style.underline(table)}\n\n`);
    for (const one of own) io.out.write(`${render(one, style, io.out.columns)}\n`);
  }
  const summary = (["error", "warning", "note"] as const).map((severity) => counted(count(findings, severity), severity)).join(", ");
  io.out.write(`${file}: ${summary}\n`);
};

export const checkCommand: CommandSpec = defineCommand<Options>({
  name: "check",
  group: "Model:",
  summary: "Check the model for hot partitions, unbounded reads and stale copies",
  description:
    "Sends no requests, unless you pass --data: then it also scans the table and reports items that the model cannot read, attributes that differ from the item's key, and edges that lack a copy. A scan costs half a read unit per 4 KB. Exits with 1 if there is an error, such as a pattern without a plan; with --strict, also if there is a warning.",
  options: [
    { flags: "--strict", text: "treat warnings as errors" },
    { flags: "--data", text: "also scan the table and check the stored items" },
    { flags: "--units <n>", text: `with --data: read units per second (default: ${DEFAULT_UNITS})`, parse: wholeNumber(10_000_000) },
    { flags: "--limit <n>", text: "with --data: stop after about this many items", parse: wholeNumber(1_000_000_000) },
  ],
  examples: ["edgetable check", "edgetable check --strict --json", "edgetable check --data --units 500"],
  run: async (call) => {
    const { options, io } = call;
    for (const name of ["units", "limit"] as const)
      if (options[name] !== undefined && !options.data) throw usageError(`--${name} needs --data.`);
    const model = await loadModel(options.model, io.cwd);
    const findings = await modelFindings(model);
    const costs: string[] = [];
    for (const { value: graph } of options.data ? model.graphs : []) {
      const scan = await scanTable(call, graph);
      findings.push(...dataFindings(graph.catalog.table, scan));
      const { items, cost } = scan.report;
      costs.push(`${counted(items, "item")} read, ${showUnits(cost.readUnits)}${scan.stopped ? "; --limit stopped the scan" : ""}`);
    }
    if (options.json) printJson(call, findings);
    else print(call, findings, model);
    for (const cost of costs) note(call, cost);
    const serious = count(findings, "error") + (options.strict ? count(findings, "warning") : 0);
    return serious === 0 ? exitCode.ok : exitCode.no;
  },
});
