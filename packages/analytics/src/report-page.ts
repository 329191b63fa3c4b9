import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";

/** The figures of one run. */
export interface ReportNumbers {
  readonly nodes: number;
  readonly edges: number;
  readonly parts: number;
  /** Nodes with an edge of the chosen types. */
  readonly linked: number;
  readonly components: number;
  /** Nodes of the largest component. */
  readonly largest: number;
}

/** A node in a list; what it was before is undefined for a new one, or without an earlier run. */
export interface ReportedNode {
  readonly node: string;
  readonly degree: number;
  readonly rank: number;
  /** 1 is the highest rank; 0 for a node that is gone. */
  readonly place: number;
  readonly degreeBefore?: number;
  readonly placeBefore?: number;
}

interface DegreeCount {
  readonly degree: number;
  readonly nodes: number;
}

/** All that a page shows. */
export interface ReportData {
  readonly table: string;
  readonly extractedAt: string;
  readonly comparedWith: string | undefined;
  readonly numbers: ReportNumbers;
  readonly numbersBefore: ReportNumbers | undefined;
  readonly tables: readonly {
    readonly name: string;
    readonly kind: string;
    readonly rows: number;
    readonly rowsBefore: number | undefined;
  }[];
  readonly degrees: { readonly in: readonly DegreeCount[]; readonly out: readonly DegreeCount[] };
  readonly components: readonly { readonly component: string; readonly nodes: number }[];
  readonly top: readonly ReportedNode[];
  readonly changes:
    | { readonly added: number; readonly gone: number; readonly changed: number; readonly moved: readonly ReportedNode[] }
    | undefined;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
const figure = (value: number): string => value.toLocaleString("en-US");
const day = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

const LONGEST_LABEL = 26;
const short = (text: string): string => (text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL - 1)}…` : text);

/** A difference as `+3`, `−3`, or nothing. */
const difference = (now: number, before: number | undefined): string => {
  if (before === undefined || now === before) return "";
  const by = now - before;
  return `<span class="${by > 0 ? "up" : "down"}">${by > 0 ? "+" : "−"}${figure(Math.abs(by))}</span>`;
};

/** A table of HTML cells. The first `texts` columns are aligned to the left, the others to the right. */
const tableOf = (caption: string, heads: readonly string[], rows: readonly (readonly string[])[], texts = 1): string => {
  const cell = (tag: "td" | "th", text: string, at: number): string => `<${tag}${at < texts ? "" : ' class="number"'}>${text}</${tag}>`;
  const line = (tag: "td" | "th", cells: readonly string[]): string => `<tr>${cells.map((text, at) => cell(tag, text, at)).join("")}</tr>`;
  return `<table><caption>${caption}</caption><thead>${line("th", heads)}</thead><tbody>${rows.map((row) => line("td", row)).join("")}</tbody></table>`;
};

const draw = (label: string, options: Plot.PlotOptions): string => {
  const { document } = parseHTML("<!doctype html><html><body></body></html>");
  const plot = Plot.plot({ document, style: { fontSize: "12px" }, ...options });
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", label);
  return plot.outerHTML;
};

/** From how many edges on the scales are logarithmic. */
const SKEWED = 30;

const degreeChart = ({ in: reaching, out: leaving }: ReportData["degrees"]): string => {
  const all = [
    ...reaching.map((one) => ({ ...one, way: "edges that reach it" })),
    ...leaving.map((one) => ({ ...one, way: "edges that leave it" })),
  ];
  const isSkewed = Math.max(...all.map(({ degree }) => degree)) > SKEWED;
  const type = isSkewed ? "log" : "linear";
  const ticks = (values: readonly number[]): number => {
    const highest = Math.max(...values);
    return isSkewed ? Math.min(4, Math.ceil(Math.log10(highest)) + 1) : Math.min(8, highest);
  };
  const label = `Nodes by their number of edges, on ${isSkewed ? "logarithmic" : "linear"} scales`;
  const colours = { domain: ["edges that reach it", "edges that leave it"], range: ["var(--first)", "var(--second)"] };
  return draw(label, {
    width: 680,
    height: 340,
    marginLeft: 60,
    marginTop: 30,
    marginBottom: 44,
    inset: 10,
    x: {
      type,
      label: "edges of a node",
      ticks: ticks(all.map(({ degree }) => degree)),
      tickFormat: figure,
      ...(isSkewed ? {} : { zero: true }),
    },
    y: {
      type,
      label: "nodes",
      grid: true,
      ticks: ticks(all.map(({ nodes }) => nodes)),
      tickFormat: figure,
      ...(isSkewed ? {} : { zero: true }),
    },
    color: colours,
    symbol: { domain: colours.domain, range: ["circle", "triangle"] },
    marks: [
      Plot.dot(all, {
        x: "degree",
        y: "nodes",
        stroke: "way",
        symbol: "way",
        r: 3.5,
        strokeOpacity: 0.85,
        title: ({ degree, nodes, way }: (typeof all)[number]) => `${figure(nodes)} × ${figure(degree)} ${way}`,
      }),
    ],
  });
};

const componentChart = (components: ReportData["components"]): string =>
  draw("Nodes of the largest components", {
    width: 680,
    height: 70 + components.length * 24,
    marginLeft: 210,
    marginRight: 70,
    marginBottom: 44,
    x: { label: "nodes", labelOffset: 40, grid: true, ticks: Math.min(5, components[0]?.nodes ?? 0), tickFormat: figure },
    y: { label: null, domain: components.map(({ component }) => component), tickFormat: short },
    marks: [
      Plot.barX(components, { x: "nodes", y: "component", fill: "var(--first)", title: "component" }),
      Plot.text(components, {
        x: "nodes",
        y: "component",
        text: ({ nodes }: { readonly nodes: number }) => figure(nodes),
        dx: 6,
        textAnchor: "start",
      }),
    ],
  });

const cards = ({ numbers, numbersBefore }: ReportData): string => {
  const share = numbers.linked === 0 ? 0 : (100 * numbers.largest) / numbers.linked;
  const all: readonly (readonly [string, string, string])[] = [
    ["nodes", figure(numbers.nodes), difference(numbers.nodes, numbersBefore?.nodes)],
    ["edges", figure(numbers.edges), difference(numbers.edges, numbersBefore?.edges)],
    ["parts", figure(numbers.parts), difference(numbers.parts, numbersBefore?.parts)],
    ["components", figure(numbers.components), difference(numbers.components, numbersBefore?.components)],
    ["in the largest", `${share >= 10 || share === 0 ? share.toFixed(0) : share.toFixed(1)} %`, `${figure(numbers.largest)} nodes`],
  ];
  return `<dl class="cards">${all.map(([name, value, more]) => `<div><dt>${name}</dt><dd>${value}</dd><dd class="more">${more || "&nbsp;"}</dd></div>`).join("")}</dl>`;
};

const placeChange = ({ place, placeBefore }: ReportedNode, isCompared: boolean): string => {
  if (!isCompared) return "";
  if (placeBefore === undefined) return '<span class="up">new</span>';
  return placeBefore === place ? "" : `<span class="${placeBefore > place ? "up" : "down"}">was ${figure(placeBefore)}</span>`;
};

const topTable = ({ top, comparedWith }: ReportData): string => {
  const isCompared = comparedWith !== undefined;
  const heads = ["place", "node", "PageRank", "edges", ...(isCompared ? ["before"] : [])];
  return tableOf(
    "By PageRank, 20 rounds",
    heads,
    top.map((one) => [
      figure(one.place),
      `<code>${escaped(one.node)}</code>`,
      one.rank.toPrecision(3),
      `${figure(one.degree)} ${one.degreeBefore === undefined ? "" : difference(one.degree, one.degreeBefore)}`,
      ...(isCompared ? [placeChange(one, isCompared)] : []),
    ]),
    2,
  );
};

const changeSection = ({ changes, comparedWith }: ReportData): string => {
  if (comparedWith === undefined) return "<p>This is the first report in its folder. The next one shows what changed since.</p>";
  if (!changes) return "<p>The lake has no edges to compare.</p>";
  const { added, gone, changed, moved } = changes;
  const intro = `<p>Since ${day(comparedWith)}: ${figure(added)} nodes with edges came, ${figure(gone)} went, and ${figure(changed)} have another number of edges.</p>`;
  if (moved.length === 0) return intro;
  return (
    intro +
    tableOf(
      "The largest changes",
      ["node", "edges before", "edges now", "change"],
      moved.map(({ node, degree, degreeBefore = 0 }) => [
        `<code>${escaped(node)}</code>`,
        figure(degreeBefore),
        figure(degree),
        difference(degree, degreeBefore),
      ]),
    )
  );
};

const degreeTable = ({ in: reaching, out: leaving }: ReportData["degrees"]): string => {
  const nodes = (counts: readonly DegreeCount[]): ReadonlyMap<number, number> => new Map(counts.map((one) => [one.degree, one.nodes]));
  const [byIn, byOut] = [nodes(reaching), nodes(leaving)];
  const all = [...new Set([...byIn.keys(), ...byOut.keys()])].toSorted((a, b) => a - b);
  const rows = all.map((degree) => [figure(degree), figure(byIn.get(degree) ?? 0), figure(byOut.get(degree) ?? 0)]);
  return `<details><summary>The same as a table</summary>${tableOf("Nodes by their number of edges", ["edges", "reach so many nodes", "leave so many nodes"], rows)}</details>`;
};

const STYLE = `
:root { color-scheme: light dark; --paper: #fbfbf9; --ink: #1f2430; --faint: #626a78; --line: #d9dbe0; --first: #2459b8; --second: #b3470b; --good: #1c6b35; --bad: #a32a2a; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181e; --ink: #e4e6ea; --faint: #9aa2b1; --line: #343a46; --first: #7fb0ff; --second: #f2a465; --good: #79c98f; --bad: #f08d8d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.6rem; } h2 { margin: 2.5rem 0 .75rem; font-size: 1.15rem; } header p { margin: .25rem 0 0; color: var(--faint); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; margin: 1.5rem 0 0; }
.cards div { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; }
.cards dt { color: var(--faint); font-size: .85rem; } .cards dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; } .cards dd.more { font-size: .85rem; color: var(--faint); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; } caption { text-align: left; color: var(--faint); font-size: .85rem; padding-bottom: .25rem; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .75rem .35rem 0; text-align: left; } th { font-weight: 600; font-size: .85rem; } .number { text-align: right; padding-right: 0; padding-left: .75rem; }
@media (min-width: 40rem) { .number { white-space: nowrap; } }
td:has(> code) { min-width: 8rem; }
code { font-size: .9rem; overflow-wrap: anywhere; } .up { color: var(--good); } .down { color: var(--bad); }
.legend { display: flex; gap: 1.5rem; margin: 0 0 .5rem; font-size: .85rem; } .legend .in::before { content: "○ "; color: var(--first); } .legend .out::before { content: "△ "; color: var(--second); }
figure { margin: 0; overflow-x: auto; } figure svg { width: 100%; min-width: 30rem; height: auto; } details { margin-top: .75rem; } summary { cursor: pointer; color: var(--faint); }
.wide { overflow-x: auto; }
`;

/** The page: HTML that loads nothing and runs no script. Every value of the table is shown as text. */
export const renderReport = (data: ReportData): string => {
  const { table, extractedAt, comparedWith, numbers, degrees, components, tables } = data;
  const title = `The graph in ${escaped(table)}`;
  const when = `Extracted ${day(extractedAt)}${comparedWith === undefined ? "" : `, compared with ${day(comparedWith)}`}`;
  const graph =
    numbers.linked === 0
      ? "<p>None of these edge types has an edge, so there are no degrees, components or ranks to show.</p>"
      : `<section><h2>Degrees</h2><p class="legend"><span class="in">edges that reach a node</span><span class="out">edges that leave it</span></p>
<figure>${degreeChart(degrees)}</figure>${degreeTable(degrees)}</section>
<section><h2>Largest components</h2><p>${figure(numbers.linked)} nodes with edges are in ${figure(numbers.components)} component${numbers.components === 1 ? "" : "s"}, each named after its first node.</p>
<figure>${componentChart(components)}</figure></section>
<section><h2>Top nodes</h2><div class="wide">${topTable(data)}</div></section>
<section><h2>What changed</h2><div class="wide">${changeSection(data)}</div></section>`;
  const rows = tables.map(({ name, kind, rows: count, rowsBefore }) => [
    `<code>${escaped(name)}</code>`,
    escaped(kind),
    `${figure(count)} ${difference(count, rowsBefore)}`,
  ]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>${title}</h1><p>${when}</p></header>
<main>
${cards(data)}
${graph}
<section><h2>Tables</h2><div class="wide">${tableOf("Rows of each table of the lake", ["table", "kind", "rows"], rows, 2)}</div></section>
</main>
</body>
</html>
`;
};
