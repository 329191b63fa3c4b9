import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Template,
  comparePrimary,
  decodeKeyField,
  encodeKeyField,
  parseTemplate,
  readTemplate,
  renderPrefix,
  renderTemplate,
  templateMatches,
  templatesOverlap,
} from "./template.ts";

const seed = process.env["EDGETABLE_SEED"];
const numRuns = Number(process.env["EDGETABLE_RUNS"] ?? 2000);
const settings = seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) };

const own = (source: string): Template => parseTemplate(source, { delimiter: "#", escapes: true });
const adopted = (source: string): Template => parseTemplate(source, { delimiter: "|", escapes: false });
const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

// The characters around each boundary: escape range, delimiters, UTF-8 lengths, planes, surrogates.
const edges = [
  "\0",
  "\u0001",
  " ",
  "!",
  '"',
  "#",
  "$",
  "%",
  "-",
  "0",
  "9",
  "A",
  "T",
  "U",
  "a",
  "{",
  "|",
  "~",
  "\u007f",
  "\u0080",
  "\u07ff",
  "\u0800",
  "\ud7ff",
  "\ue000",
  "\uffff",
];
const planes = Array.from({ length: 16 }, (_, plane) => String.fromCodePoint(0x1_0000 * (plane + 1) + (plane % 2) * 0xffff));
const nasty = fc.string({ unit: fc.constantFrom(...edges, ...planes), maxLength: 6 });
const text = fc.oneof(
  nasty,
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme", minLength: 200, maxLength: 600 }),
  fc.constantFrom("SIMON", "SIMONE", "$S", "acme#user_bob"),
);
const filled = text.filter((value) => value !== "");
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 5e-324, -5e-324, Number.MAX_VALUE, 4, 4.2, -4, -4.2),
);
const bigint = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });
const date = fc.date({ min: new Date("0000-01-01T00:00:00.000Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
const natural = fc.nat({ max: Number.MAX_SAFE_INTEGER });

/** Values of one format, how they compare, and its name in a template. */
interface Kind {
  readonly format: string;
  readonly values: fc.Arbitrary<unknown>;
  readonly compare: (a: never, b: never) => number;
}
const byValue = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0);
const ordered: readonly Kind[] = [
  { format: "text", values: filled, compare: bytes },
  { format: "number", values: number, compare: byValue },
  { format: "number", values: bigint, compare: byValue },
  { format: "16", values: natural, compare: byValue },
  { format: "date", values: date, compare: (a: Date, b: Date) => a.getTime() - b.getTime() },
  { format: "boolean", values: fc.boolean(), compare: (a: boolean, b: boolean) => Number(a) - Number(b) },
  { format: "number|text", values: number, compare: byValue },
  { format: "number|boolean|text", values: fc.oneof(filled, fc.constantFrom("o", "o\u0000", "o%", "p5001", "true")), compare: bytes },
];

const oneKind = fc.constantFrom(...ordered);
const tupleOf = (kinds: readonly Kind[]): fc.Arbitrary<unknown[]> => fc.tuple(...kinds.map((kind) => kind.values));
/** Two or three kinds and two tuples of them, often alike in their first values. */
const pair = fc.array(oneKind, { minLength: 1, maxLength: 3 }).chain((kinds) =>
  fc.record({ left: tupleOf(kinds), other: tupleOf(kinds), shared: fc.nat({ max: kinds.length }) }).map(({ left, other, shared }) => ({
    kinds,
    left,
    right: left.map((value, index) => (index < shared ? value : other[index])),
  })),
);
const sourceOf = (kinds: readonly Kind[]): string => `K#${kinds.map(({ format }, index) => `{f${index}:${format}}`).join("#")}`;
const rowOf = (values: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(values.map((value, index) => [`f${index}`, value]));
const compareTuples = (kinds: readonly Kind[], left: readonly unknown[], right: readonly unknown[]): number =>
  kinds.map(({ compare }, index) => compare(left[index] as never, right[index] as never)).find((order) => order !== 0) ?? 0;
const key = (template: Template, values: readonly unknown[]): string => renderTemplate(template, rowOf(values)) ?? "";

test("keys sort as their tuples do, and only equal tuples share one", () => {
  const property = fc.property(pair, ({ kinds, left, right }) => {
    const template = own(sourceOf(kinds));
    const order = bytes(key(template, left), key(template, right));
    expect(order).toBe(Math.sign(compareTuples(kinds, left, right)));
    expect(Math.sign(comparePrimary(key(template, left), key(template, right)))).toBe(order);
  });
  fc.assert(property, settings);
});

test("a key reads back as its tuple, and writes again as the same key", () => {
  const property = fc.property(pair, ({ kinds, left }) => {
    const template = own(sourceOf(kinds));
    const written = key(template, left);
    const row = readTemplate(template, written) ?? {};
    for (const [index, { compare }] of kinds.entries()) expect(compare(row[`f${index}`] as never, left[index] as never)).toBe(0);
    expect(renderTemplate(template, row)).toBe(written);
    expect(templateMatches(template, written)).toBe(true);
  });
  fc.assert(property, settings);
});

test("a prefix meets exactly the tuples that begin with its values", () => {
  const property = fc.property(pair, fc.nat({ max: 2 }), ({ kinds, left, right }, known) => {
    const template = own(sourceOf(kinds));
    const prefix = renderPrefix(template, rowOf(left.slice(0, known)));
    if (prefix.complete) return;
    const begins = compareTuples(kinds.slice(0, known), left, right) === 0;
    expect(key(template, right).startsWith(prefix.text)).toBe(begins);
    expect(prefix.next).toBe(`f${known}`);
  });
  fc.assert(property, settings);
});

test("empty texts, too, are injective, ordered and reversible field by field", () => {
  const template = own("{f0}#{f1}#{f2}");
  const fields = template.fields;
  const join = (values: readonly string[]): string =>
    values.map((value, index) => encodeKeyField(template, fields[index] ?? "", value)).join("#");
  const texts = fc.array(fc.oneof(fc.constant(""), text), { minLength: 3, maxLength: 3 });
  const property = fc.property(texts, texts, (left, right) => {
    const order = left.map((value, index) => bytes(value, right[index] ?? "")).find((one) => one !== 0) ?? 0;
    expect(bytes(join(left), join(right))).toBe(order);
    expect(
      join(left)
        .split("#")
        .map((piece, index) => decodeKeyField(template, fields[index] ?? "", piece)),
    ).toEqual(left);
  });
  fc.assert(property, settings);
});

test("adopted layouts are injective and reversible for every text they accept", () => {
  const template = adopted("P|{f0}|{f1:plain}|{f2:6|text}");
  const safe = filled.filter((value) => !value.includes("|"));
  const last = fc.oneof(
    fc.nat({ max: 999_999 }),
    safe.filter((value) => !/^\d{6}$/.test(value)),
  );
  const property = fc.property(safe, fc.oneof(bigint, fc.maxSafeInteger()), last, (first, second, third) => {
    const written = key(template, [first, second, third]);
    expect(readTemplate(template, written)).toEqual({
      f0: first,
      f1: Number.isSafeInteger(Number(second)) ? Number(second) : second,
      f2: third,
    });
  });
  fc.assert(property, settings);
});

test("what a template reads it has written: any other text is undefined, and nothing throws", () => {
  const templates = ["K#{a}", "K#{a:number}#{b:plain}", "{a:date|boolean|6|text}", "{a:shard(16)}#{b}"].map(own);
  const pieces = fc.constantFrom(
    "K#",
    "#",
    "p501",
    "n49857z",
    "42",
    "-1",
    "true",
    "2023-05-01T00:00:00.000Z",
    "$S",
    "$",
    " ",
    "x",
    "\ud800",
  );
  const property = fc.property(
    fc.constantFrom(...templates),
    fc.array(pieces, { maxLength: 5 }).map((list) => list.join("")),
    (template, candidate) => {
      const row = readTemplate(template, candidate);
      expect(templateMatches(template, candidate)).toBe(row !== undefined);
      if (row === undefined || template.source.includes("shard")) return;
      expect(renderTemplate(template, row)).toBe(candidate);
    },
  );
  fc.assert(property, settings);
});

test("templates that do not overlap never make one key", () => {
  const piece = fc.constantFrom(
    "A",
    "AB",
    "1",
    "{x}",
    "{x:number}",
    "{x:6}",
    "{x:plain}",
    "{x:boolean}",
    "A{x}",
    "1{x:2}",
    "{x:date}",
    "{x:shard(16)}",
    "{x:boolean|6}",
  );
  const source = fc
    .array(piece, { minLength: 1, maxLength: 3 })
    .map((pieces) => pieces.map((one, index) => one.replace("x", `f${index}`)).join("#"));
  const values = fc.constantFrom<unknown>("A", "AB", "B", "1", "111111", "true", "p5001", 1, 11, 111_111, true, false, new Date(0));
  const property = fc.property(source, source, fc.array(values, { minLength: 3, maxLength: 3 }), (one, other, tuple) => {
    const [a, b] = [own(one), own(other)];
    const overlap = templatesOverlap(a, b);
    expect(templatesOverlap(b, a)).toBe(overlap);
    const written = attempt(a, tuple);
    if (written !== undefined && templateMatches(b, written)) expect(overlap).toBe(true);
  });
  fc.assert(property, settings);
});

const attempt = (template: Template, values: readonly unknown[]): string | undefined => {
  try {
    return renderTemplate(template, rowOf(values));
  } catch {
    return undefined;
  }
};
