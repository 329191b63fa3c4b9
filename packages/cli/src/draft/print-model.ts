import { type Draft, type DraftSchema, WHOLE } from "./draft.ts";
import { distinct } from "./sample.ts";

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const WIDTH = 118;

const nameText = (name: string): string => (IDENTIFIER.test(name) ? name : JSON.stringify(name));

/** A value that prints as it is: code. */
interface Code {
  readonly code: string;
}

const isCode = (value: unknown): value is Code => typeof value === "object" && value !== null && "code" in value;

/** A comment before a member. */
const COMMENTS = Symbol("comments");

interface Members {
  readonly [name: string]: unknown;
  readonly [COMMENTS]?: readonly string[];
}

const print = (value: unknown, indent: string, before: number): string => {
  if (isCode(value)) return value.code;
  if (value === WHOLE) return "whole";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const line = `[${value.map((one) => print(one, indent, 0)).join(", ")}]`;
    if (line.length + before <= WIDTH) return line;
    return `[\n${value.map((one) => `${inner}${print(one, inner, inner.length)},\n`).join("")}${indent}]`;
  }
  const members = value as Members;
  const entries = Object.entries(members).filter(([, one]) => one !== undefined);
  if (entries.length === 0) return "{}";
  const hasComments = entries.some(([, one]) => typeof one === "object" && one !== null && COMMENTS in one) || COMMENTS in members;
  const line = `{ ${entries.map(([name, one]) => `${nameText(name)}: ${print(one, indent, 0)}`).join(", ")} }`;
  if (!hasComments && !line.includes("\n") && line.length + before <= WIDTH) return line;
  const lines = entries.map(([name, one]) => {
    const comments = (typeof one === "object" && one !== null && (one as Members)[COMMENTS]) || [];
    const head = `${nameText(name)}: `;
    return `${comments.map((text) => `${inner}// ${text}\n`).join("")}${inner}${head}${print(one, inner, inner.length + head.length + 1)},\n`;
  });
  return `{\n${lines.join("")}${indent}}`;
};

const call = (name: string, members: Members, indent: string): Code => ({ code: `${name}(${print(members, indent, indent.length + 30)})` });

const schemaOf = (schema: DraftSchema, indent: string): Code => {
  const members = Object.fromEntries(Object.entries(schema).map(([name, code]) => [name, { code }]));
  return { code: `z.object(${print(members, indent, indent.length + 20)})` };
};

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

/** Explains a draft as comments: what a reader should check, and how well it fits. */
export interface PrintNotes {
  readonly summary: readonly string[];
  readonly doubts: readonly string[];
  /** The name of the exported graph. */
  readonly exported: string;
}

/** The TypeScript of a drafted model, with comments on what the sample does not decide. */
export const printModel = (draft: Draft, { summary, doubts, exported }: PrintNotes): string => {
  const { table, nodes, parts, edges, layout, settings } = draft;
  const items = (group: object, make: string): Members | undefined => {
    const members: Record<string, unknown> = {};
    for (const [name, one] of Object.entries(group) as [
      string,
      { readonly schema: DraftSchema; readonly doubts: readonly string[]; readonly count: number },
    ][]) {
      const { schema, doubts: unsure, count: _count, ...rest } = one;
      const code = call(
        make,
        { ...rest, ...(make === "edge" && Object.keys(schema).length === 0 ? {} : { schema: schemaOf(schema, "      ") }) },
        "    ",
      );
      members[name] = { ...code, [COMMENTS]: distinct(unsure).map((text) => `Unsure: ${oneLine(text)}`) };
    }
    return Object.keys(members).length === 0 ? undefined : members;
  };
  const used = [
    "defineGraph",
    ...(Object.keys(edges).length > 0 ? ["edge"] : []),
    ...(Object.keys(nodes).length > 0 ? ["node"] : []),
    ...(Object.keys(parts).length > 0 ? ["part"] : []),
  ];
  const definition: Members = {
    table,
    nodes: items(nodes, "node"),
    parts: items(parts, "part"),
    edges: items(edges, "edge"),
    layout,
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  };
  const body = print(definition, "", WIDTH);
  const wholes = body.includes("whole")
    ? `// The delimiter of an attribute that is one value: a character that no value contains.\nconst whole = "\\u0001";\n\n`
    : "";
  const comments = [...summary, ...doubts.map((text) => `Unsure: ${text}`)].map((text) => `// ${oneLine(text)}\n`).join("");
  return `${comments}import { ${used.join(", ")} } from "edgetable";\nimport { z } from "zod";\n\n${wholes}export const ${exported} = defineGraph(${body});\n`;
};
