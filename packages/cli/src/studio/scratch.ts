import type { ChainState, ScratchProblem } from "@edgetable/studio";
import { type Expression, type Node, parseExpressionAt, type Property, type Super } from "acorn";
import { didYouMean } from "edgetable";
import { isFieldPart } from "edgetable/check";
import type { AnyRead, UntypedDb } from "../connection.ts";
import { failureOf } from "../failure.ts";

/** What was typed cannot be a call: why, and where. */
export class ScratchError extends Error {
  readonly problem: ScratchProblem;
  constructor(message: string, { start, end }: Pick<Node, "start" | "end">) {
    super(message);
    this.problem = { message, start, end };
  }
}

/** A method of the chain, its arguments as values. */
interface Step extends Pick<Node, "start" | "end"> {
  readonly name: string;
  /** Undefined for a member that is not called. */
  readonly values: readonly unknown[] | undefined;
}

/** A call that was typed, as data. */
export interface ScratchCall {
  readonly steps: readonly Step[];
  readonly writes: boolean;
}

const ONLY_VALUES =
  "Arguments are values: texts, numbers, booleans, lists, objects, and new Date(…), new Set([…]) and new Uint8Array([…]) of them.";

const nameOf = ({ key, computed }: Property): string => {
  if (!computed && key.type === "Identifier" && key.name !== "__proto__") return key.name;
  if (!computed && key.type === "Literal" && key.value !== "__proto__") return String(key.value);
  throw new ScratchError("Write property names plainly, such as { id: … }; __proto__ is refused.", key);
};

const made = (node: Expression & { readonly type: "NewExpression" }): unknown => {
  const given = node.arguments.map((one) => valueOf(one));
  const [first] = given;
  const name = node.callee.type === "Identifier" ? node.callee.name : "";
  if (name === "Date" && given.length === 1 && (typeof first === "string" || typeof first === "number")) {
    const date = new Date(first);
    if (!Number.isNaN(date.getTime())) return date;
    throw new ScratchError("This is not a date.", node);
  }
  if (name === "Set" && given.length === 1 && Array.isArray(first)) return new Set(first);
  const isByte = (one: unknown): boolean => Number.isInteger(one) && (one as number) >= 0 && (one as number) < 256;
  if (name === "Uint8Array" && given.length === 1 && Array.isArray(first) && first.every(isByte)) return Uint8Array.from(first as number[]);
  throw new ScratchError(ONLY_VALUES, node);
};

/** The value that an argument is written as; nothing of it is run. */
const valueOf = (node: Node | null): unknown => {
  const expression = node as Expression;
  switch (expression?.type) {
    case "Literal":
      if (expression.regex) break;
      return typeof expression.bigint !== "string" ? expression.value : BigInt(expression.bigint);
    case "TemplateLiteral":
      if (expression.expressions.length > 0) break;
      return expression.quasis[0]?.value.cooked ?? "";
    case "UnaryExpression": {
      const value = valueOf(expression.argument);
      if (expression.operator === "-" && (typeof value === "number" || typeof value === "bigint")) return -value;
      break;
    }
    case "ArrayExpression":
      return expression.elements.map((one) => valueOf(one));
    case "ObjectExpression":
      return Object.fromEntries(
        expression.properties.map((one) => {
          if (one.type !== "Property" || one.kind !== "init" || one.method || one.shorthand) throw new ScratchError(ONLY_VALUES, one);
          return [nameOf(one), valueOf(one.value)];
        }),
      );
    case "NewExpression":
      return made(expression);
    case "Identifier":
      if (expression.name === "undefined") return undefined;
      throw new ScratchError(`"${expression.name}" is not known here. ${ONLY_VALUES}`, expression);
    default:
  }
  throw new ScratchError(ONLY_VALUES, expression ?? { start: 0, end: 0 });
};

/** The methods of a chain that begins with `db`, the first one first. */
const stepsOf = (root: Expression): readonly Step[] => {
  const steps: Step[] = [];
  let node: Expression | Super = root;
  while (node.type !== "Identifier") {
    const called: Expression | undefined = node.type === "CallExpression" ? node : undefined;
    const member: Expression | Super = node.type === "CallExpression" ? node.callee : node;
    if (member.type !== "MemberExpression" || member.optional || called?.optional)
      throw new ScratchError('A call is a chain of methods that begins with "db", such as db.student({ … }).out("…").nodes().', node);
    const { property } = member;
    const name = !member.computed && property.type === "Identifier" ? property.name : "";
    if (name === "") throw new ScratchError("Methods are named after a dot.", property);
    const values = called?.type === "CallExpression" ? called.arguments.map((one) => valueOf(one)) : undefined;
    steps.unshift({ name, values, start: property.start, end: property.end });
    node = member.object;
  }
  if (node.name !== "db") throw new ScratchError(`The chain begins with "db", not with "${node.name}".`, node);
  return steps;
};

const parse = (text: string): Expression => {
  let parsed: Expression;
  try {
    parsed = parseExpressionAt(text, 0, { ecmaVersion: 2022, allowAwaitOutsideFunction: true });
  } catch (error) {
    const { pos = 0, message } = error as { readonly pos?: number; readonly message: string };
    throw new ScratchError(`This is not a call: ${message.replace(/ \(\d+:\d+\)$/, "")}.`, {
      start: pos,
      end: Math.min(text.length, pos + 1),
    });
  }
  const rest = /\S/.exec(text.slice(parsed.end).replace(/^\s*;\s*$/, ""));
  if (rest) throw new ScratchError("One call at a time: nothing may follow it.", { start: parsed.end + rest.index, end: text.length });
  return parsed.type === "AwaitExpression" ? parsed.argument : parsed;
};

type Table = typeof import("@edgetable/studio").chainMethods;

const firstState = ({ catalog }: UntypedDb, { name, values, ...at }: Step): ChainState => {
  const { nodes, edges, parts, ends } = catalog;
  if (name === "find" && values) return "search";
  if (values && Object.hasOwn(ends, name)) return "node";
  if (Object.hasOwn(nodes, name)) return "nodeType";
  const state = Object.hasOwn(edges, name) ? "edgeType" : Object.hasOwn(parts, name) ? "partType" : undefined;
  const ownParts = Object.keys(parts).filter((part) => !isFieldPart(parts[part]?.definition));
  const names = ["find", ...Object.keys(nodes), ...Object.keys(edges), ...ownParts];
  if (state === undefined) throw new ScratchError(`The model has no "${name}".${didYouMean(name, names)}`, at);
  if (values) throw new ScratchError(`"${name}" is not a node: call one of its methods, such as db.${name}.get(…).`, at);
  return state;
};

/**
 * Reads a call that a person typed, as data: a chain of listed methods on `db`, its arguments written as values.
 *
 * @throws {ScratchError} for anything else, with its place
 */
export const readScratch = (db: UntypedDb, methods: Table, text: string): ScratchCall => {
  const steps = stepsOf(parse(text));
  const [first, ...more] = steps;
  const whole = { start: 0, end: text.length };
  if (!first) throw new ScratchError("Name a node type, an edge type, a part, or find.", whole);
  let state = firstState(db, first);
  for (const step of more) {
    const known = methods[state];
    const found = Object.hasOwn(known, step.name) ? known[step.name] : undefined;
    if (!found) {
      const isEnd = state === "read" || state === "write";
      const why = isEnd
        ? "Nothing may follow the end of a chain; the scratch pad itself plans and runs it."
        : didYouMean(step.name, Object.keys(known)).trim();
      throw new ScratchError(`"${step.name}" cannot be called here. ${why}`.trim(), step);
    }
    if (!step.values) throw new ScratchError(`Call it: ${step.name}(…).`, step);
    state = found.gives;
  }
  if (state !== "read" && state !== "write") {
    const ends = Object.entries(methods[state]).flatMap(([name, { gives }]) => (gives === "read" ? [`${name}(…)`] : []));
    throw new ScratchError(`The chain is not a call yet: end it with one of ${ends.slice(0, 6).join(", ")}.`, {
      start: text.trimEnd().length,
      end: text.length,
    });
  }
  return { steps, writes: state === "write" };
};

/**
 * Builds the call on a connection. Nothing is sent.
 *
 * @throws {ScratchError} for what a method refuses, at that method
 */
export const buildScratch = (db: UntypedDb, { steps }: ScratchCall): AnyRead => {
  let value: unknown = db;
  for (const { name, values, ...at } of steps) {
    const owner = value as Readonly<Record<string, unknown>>;
    const member = owner[name];
    if (values === undefined) {
      value = member;
      continue;
    }
    if (typeof member !== "function") throw new ScratchError(`"${name}" is not possible here.`, at);
    try {
      value = Reflect.apply(member, owner, values) as unknown;
    } catch (error) {
      throw new ScratchError(failureOf(error).message, at);
    }
  }
  return value as AnyRead;
};
