import { edge, node, part, type Layout } from "edgetable";
import type { Random } from "@edgetable/testing";
import { z } from "zod";

export type Row = Readonly<Record<string, unknown>>;

const below = (random: Random, end: number): number => Math.floor(random() * end);

/** Values of each kind that attributes take; few, so that rows share them. */
const TEXTS = ["a", "ab", "b", "B", "A b", "ä", "Zoe", "zed", "zoe", "10", "9", "!", "ZZ"];
const WHOLE = [0, 1, 2, 9, 10, 99];
const NUMBERS = [-9.5, -1, 0, 0.25, 2, 9, 10, 100, 1e15];
const DATES = ["2020-01-01T00:00:00.000Z", "2020-01-02T00:00:00.000Z", "2021-06-01T12:00:00.500Z"];

export const pickOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)] as T;
const chance = (random: Random, share: number): boolean => random() < share;

type Kind = "text" | "whole" | "number" | "date" | "flag" | "object";

/** What the attributes of a ticket hold. */
export const KINDS: Readonly<Record<string, Kind>> = {
  id: "text",
  sub: "whole",
  t: "text",
  u: "text",
  s: "text",
  n: "number",
  m: "whole",
  f: "flag",
  d: "date",
  o: "object",
  ref: "text",
};
const REQUIRED = ["id", "sub", "u", "s", "m"];

export const valueFor = (random: Random, field: string): unknown => {
  if (field === "s") return pickOf(random, ["open", "done", "wait"]);
  if (field === "id") return pickOf(random, ["a1", "A1", "b2", "3", "C4", "5", "6"]);
  if (field === "sub") return pickOf(random, [1, 2]);
  if (field === "ref") return pickOf(random, ["o1", "o2", "O1"]);
  if (field === "f") return chance(random, 0.5);
  if (field === "d") return new Date(pickOf(random, DATES));
  if (field === "o") return chance(random, 0.7) ? { x: pickOf(random, TEXTS), y: pickOf(random, TEXTS) } : { y: pickOf(random, TEXTS) };
  if (field === "m") return pickOf(random, WHOLE);
  if (field === "n") return pickOf(random, NUMBERS);
  return pickOf(random, TEXTS);
};

/** How a template may write a field. */
const FORMATS: Readonly<Record<Kind, readonly string[]>> = {
  text: ["", "", "", ":lower", ":upper", ":written"],
  whole: [":number", ":4", ":plain", ":written", ":written(4)"],
  number: [":number", ":number", ":written"],
  date: [":date"],
  flag: [":boolean", ":written"],
  object: [""],
};

interface Fill {
  readonly field: string;
  readonly sources: readonly (string | { readonly with: string; readonly value: string })[];
}

/** One index of a drawn layout. */
interface DrawnIndex {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string | undefined;
}

/** A drawn model, and what of it the checks need to know. */
export interface Drawn {
  readonly layout: Layout;
  readonly hasSub: boolean;
  readonly key: string;
  readonly indexes: readonly DrawnIndex[];
  /** The templates of a ticket's index keys, with those of attributes that are keys themselves. */
  readonly ticketKeys: Readonly<Record<string, string>>;
  readonly sparse: readonly string[];
  readonly halves: boolean;
  readonly when: Readonly<Record<string, Row>>;
  readonly fills: readonly Fill[];
  readonly delimiters: Readonly<Record<string, string>>;
  readonly delimiter: string;
  readonly references: boolean;
  /** Whether the table holds ids in lower case. */
  readonly folds: boolean;
  /** Whether a change of m moves an item. */
  readonly moves: boolean;
}

const fieldText = (random: Random, field: string): string => {
  const kind = KINDS[field] ?? "text";
  const path = kind === "object" ? `${field}.x` : field;
  const format = pickOf(random, kind === "object" ? ["", ":lower"] : FORMATS[kind]);
  return `{${path}${format}}`;
};

const allFields = ["t", "u", "s", "n", "m", "f", "d", "o", "ref", "m", "u"];

/** A random layout of tickets, their notes, their owners and what links them. */
export const drawLayout = (random: Random): Drawn => {
  const delimiter = pickOf(random, ["#", "#", "|", "_", "/"]);
  const hasSub = chance(random, 0.4);
  const folds = chance(random, 0.15);
  const moves = chance(random, 0.15);
  const key = `T${delimiter}{id${folds ? ":lower" : ""}}${hasSub ? `${delimiter}{sub${pickOf(random, [":number", ":4", ":plain"])}}` : ""}`;
  const hasType = chance(random, 0.4);
  const indexes: DrawnIndex[] = [];
  const ticketKeys: Record<string, string> = {};
  const noteKeys: Record<string, string> = {};
  const linkKeys: Record<string, string> = {};
  const sparse = new Set<string>();
  const delimiters: Record<string, string> = {};
  const when: Record<string, Row> = {};
  const fills: Fill[] = [];
  const layoutIndexes: Record<string, { partitionKey: string; sortKey?: string; projection?: "ALL" }> = {};
  const count = 1 + below(random, 3);
  for (let at = 1; at <= count; at++) {
    const name = `X0${at}`;
    // Keys that are attributes of the schema.
    if (chance(random, 0.2)) {
      const partitionKey = pickOf(random, ["u", "t", "s"]);
      const sortKey = pickOf(random, [undefined, "m", "n", "d"]);
      indexes.push({ name, partitionKey, sortKey });
      layoutIndexes[name] = { partitionKey, ...(sortKey ? { sortKey } : {}) };
      continue;
    }
    const [partitionKey, sortKey] = [`${name}PK`, chance(random, 0.85) ? `${name}SK` : undefined];
    indexes.push({ name, partitionKey, sortKey });
    layoutIndexes[name] = { partitionKey, ...(sortKey ? { sortKey } : {}) };
    const parts = (fields: readonly string[], lead: string): string => [...(lead ? [lead] : []), ...fields].join(delimiter);
    if (chance(random, 0.15) && sortKey) {
      const optional = ["t", "ref", "n", "f"];
      const field = (): string => `{${pickOf(random, optional)}?${pickOf(random, [":lower", ":written"])}}`;
      ticketKeys[partitionKey] = `E${at}${delimiter}${field()}`;
      ticketKeys[sortKey] = `E${at}${delimiter}${field()}${chance(random, 0.4) ? `${delimiter}x_${field()}` : ""}`;
      sparse.add(partitionKey);
      sparse.add(sortKey);
      continue;
    }
    const pkField = pickOf(random, allFields);
    const filled = chance(random, 0.25);
    if (filled) {
      const field = `q${at}`;
      const sources = [
        pickOf(random, ["{t}", "{ref}", "{o.x}", `{t}${delimiter === "_" ? "-" : "."}`.slice(0, 3)]),
        ...(chance(random, 0.5) ? [{ with: pickOf(random, ["t", "ref", "d", "f"]), value: pickOf(random, ["FIX", "F{s}"]) }] : []),
        ...(chance(random, 0.6) ? [pickOf(random, ["{u}", "{s}", "NONE"])] : []),
      ].filter((one) => one !== "F{s}");
      fills.push({
        field,
        sources: sources.map((one) => (typeof one === "object" && one.value === "F{s}" ? { ...one, value: "{s}" } : one)),
      });
      ticketKeys[partitionKey] = parts([`{${field}}`], pickOf(random, ["", `Q${at}`]));
    } else ticketKeys[partitionKey] = parts([fieldText(random, pkField)], pickOf(random, ["", `P${at}`, "T"]));
    if (sortKey) {
      const fields = Array.from({ length: below(random, 3) + (chance(random, 0.5) ? 1 : 0) }, () =>
        fieldText(random, pickOf(random, allFields)),
      );
      // One attribute in two forms.
      if (fields.length === 0 || chance(random, 0.25)) {
        const field = pickOf(random, ["t", "u", "u", "ref"]);
        fields.unshift(`{${field}${pickOf(random, [":lower", ":upper", ""])}}`, `{${field}}`);
      }
      if (chance(random, 0.15))
        fields.splice(Math.floor(random() * (fields.length + 1)), 0, pickOf(random, ["{t?:lower}", "{ref?:written}", "{n?:written}"]));
      if (chance(random, 0.7)) fields.push("{id}");
      ticketKeys[sortKey] = parts(fields, pickOf(random, ["", "T", `S${at}`]));
    }
    if (chance(random, 0.2)) ticketKeys[partitionKey] += `${delimiter}{id:shard(3)}`;
    if (chance(random, 0.93)) for (const one of [partitionKey, sortKey]) if (one) sparse.add(one);
    if (chance(random, 0.2) && !filled)
      when[partitionKey] = pickOf(random, [
        { s: "open" },
        { s: ["open", "wait"] },
        { t: { exists: false } },
        { f: true },
        { d: { exists: true } },
      ]);
    if (chance(random, 0.15)) for (const one of [partitionKey, sortKey]) if (one) delimiters[one] = pickOf(random, ["~", "^"]);
    if (chance(random, 0.4)) {
      noteKeys[partitionKey] = parts(["{id}"], pickOf(random, ["P1", "P2", "T", "N"]));
      if (sortKey) noteKeys[sortKey] = parts(["{k:3}"], pickOf(random, ["", "T", "S1", "N"]));
    }
    if (chance(random, 0.4)) {
      linkKeys[partitionKey] = "{to}";
      if (sortKey) linkKeys[sortKey] = parts(["{at}", "{from}"], pickOf(random, ["", "L"]));
    }
  }
  // An index for references, and one for links.
  const references = chance(random, 0.7);
  layoutIndexes["REF"] = { partitionKey: "RPK", sortKey: "RSK" };
  indexes.push({ name: "REF", partitionKey: "RPK", sortKey: "RSK" });
  if (references) {
    ticketKeys["RPK"] = `O${delimiter}{ref}`;
    ticketKeys["RSK"] = [fieldText(random, pickOf(random, allFields)), "{id}"].join(delimiter);
    sparse.add("RPK");
    sparse.add("RSK");
  }
  linkKeys["RPK"] = "{to}";
  linkKeys["RSK"] = `L${delimiter}{at}${delimiter}{from}`;
  for (const index of Object.values(layoutIndexes)) index.projection = "ALL";
  const halves = chance(random, 0.1);
  const verbatim = chance(random, 0.85) ? ["t", "n", "d", "ref"] : [];
  if (verbatim.length > 0)
    for (const [name, template] of Object.entries(ticketKeys))
      ticketKeys[name] = template.replaceAll("{f:boolean}", "{f:written}").replaceAll("{o.x}", "{o.x}");
  // Other delimiters are those of whole templates.
  for (const [attribute, other] of Object.entries(delimiters))
    if (ticketKeys[attribute]) ticketKeys[attribute] = ticketKeys[attribute].replaceAll(delimiter, other);
  const layout: Layout = {
    partitionKey: "PK",
    sortKey: "SK",
    delimiter,
    ...(hasType ? { typeAttribute: "kind" } : {}),
    indexes: layoutIndexes,
    nodes: {
      ticket: {
        keys: { SK: moves ? `AT${delimiter}{m:4}` : pickOf(random, ["{key}", "TICKET"]), ...ticketKeys },
        sparse: [...sparse].filter((one) => one in ticketKeys),
        ...(Object.keys(delimiters).length > 0 ? { delimiters } : {}),
        ...(Object.keys(when).length > 0 ? { when: when as never } : {}),
        ...(fills.length > 0 ? { fill: Object.fromEntries(fills.map(({ field, sources }) => [field, sources])) } : {}),
        ...(halves ? { halves } : {}),
        ...(verbatim.length > 0 ? { verbatim } : {}),
        attributes: chance(random, 0.3) ? { f: "Flag", o: "Object" } : {},
      },
      owner: { keys: { SK: pickOf(random, ["{key}", "OWNER"]) } },
    },
    parts: { note: { keys: { SK: `N${delimiter}{k:3}`, ...noteKeys }, ...(folds ? { verbatim: ["id"] } : {}) } },
    edges: { link: { keys: { SK: `LINK${delimiter}{to}`, ...linkKeys }, ...(folds ? { verbatim: { tid: "from.id" } } : {}) } },
  };
  return {
    layout,
    hasSub,
    key,
    indexes,
    ticketKeys,
    sparse: [...sparse],
    halves,
    when,
    fills,
    delimiters,
    delimiter,
    references,
    folds,
    moves,
  };
};

const text = z.string();

/** The model of a drawn layout. */
export const drawnModel = (table: string, drawn: Drawn) => ({
  table,
  nodes: {
    ticket: node({
      key: drawn.key as "T#{id}",
      schema: z.object({
        id: text,
        sub: z.int().optional(),
        t: text.optional(),
        u: text,
        s: text,
        n: z.number().optional(),
        m: z.int(),
        f: z.boolean().optional(),
        d: z.date().optional(),
        o: z.object({ x: text.optional(), y: text.optional() }).optional(),
        ref: text.optional(),
        ...Object.fromEntries(drawn.fills.map(({ field }) => [field, text.optional()])),
      }),
      dates: ["d"],
    }),
    owner: node({ key: `O${drawn.delimiter}{ownerId}` as "O#{ownerId}", schema: z.object({ ownerId: text, name: text }) }),
  },
  parts: {
    note: part({ of: "ticket", key: `N${drawn.delimiter}{k:3}` as "N#{k:3}", schema: z.object({ k: z.int(), w: text.optional() }) }),
  },
  edges: {
    ...(drawn.references
      ? {
          owned: edge({
            from: "ticket",
            to: "owner",
            stored: "reference",
            by: { ownerId: "ref" },
            schema: z.object({ s: text, m: z.int() }),
          }),
        }
      : {}),
    link: edge({ from: "ticket", to: "owner", schema: z.object({ at: text, w: z.number().optional() }) }),
  },
  layout: drawn.layout,
});

/** A random ticket. */
export const drawTicket = (random: Random, id: Row): Row => {
  const row: Record<string, unknown> = { ...id };
  for (const field of ["t", "u", "s", "n", "m", "f", "d", "o", "ref"])
    if (REQUIRED.includes(field) || chance(random, 0.6)) row[field] = valueFor(random, field);
  return row;
};
