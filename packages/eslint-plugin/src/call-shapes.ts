import type { Node, Scope, SourceCode, Type } from "./rule-types.ts";

// What a chain that begins at a connection ends with. Whatever else it ends with is a builder, or starts at once.
const WRITES = ["create", "put", "update", "upsert", "delete", "link", "relink", "unlink", "check"];
const READS = ["get", "getMany", "by", "has", "collection", "incoming"];
const LISTS = ["edges", "nodes", "entries", "ids", "count", "first", "range", "page", "all", "rows", "sum", "sources", "targets"];
const WALKS = ["paths", "rank", "groupCount", "shortestPath", "levels"];

// What is asked of the users' fields of a node type: db.issue.values(id).set(…), db.issue.grid(project).sort("name").page().
const GRIDS: Readonly<Record<string, readonly string[]>> = {
  views: ["list", "save", "change", "delete"],
  fields: ["list", "define", "rename", "update", "move", "retype", "delete"],
  values: ["get", "set"],
  grid: ["page", "count", "groups", "importCsv"],
};

// Members of a connection that are no node, edge or part.
const ADMINISTRATION: ReadonlySet<string> = new Set(["table", "jobs", "migrations", "reshard", "catalog"]);

const writes: ReadonlySet<string> = new Set(WRITES);
const ofKind: ReadonlySet<string> = new Set([...WRITES, ...READS]);
const ofChain: ReadonlySet<string> = new Set([...READS, ...LISTS, ...WALKS]);

/** What an expression is, as far as the rules care. */
export interface Shape {
  /** True for a call of Edgetable: nothing is sent before it is awaited. */
  readonly isCall: boolean;
  /** True if what it resolves to says whether a write happened. */
  readonly isWrite: boolean;
}

const NOTHING: Shape = { isCall: false, isWrite: false };
const READ: Shape = { isCall: true, isWrite: false };
const WRITE: Shape = { isCall: true, isWrite: true };

/** The expression within parentheses, assertions and optional chains. */
export const bare = (node: Node): Node => {
  switch (node.type) {
    case "ChainExpression":
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
    case "TSTypeAssertion":
      return bare(node.expression as Node);
    default:
      return node;
  }
};

/** The name of a member that is written out, such as `create` in `db.user.create` or `db.user["create"]`. */
const memberName = ({ type, property, computed }: Node): string | undefined => {
  if (type !== "MemberExpression") return undefined;
  const { type: kind, name, value } = property as Node;
  if (!computed) return kind === "Identifier" ? (name as string) : undefined;
  return kind === "Literal" && typeof value === "string" ? value : undefined;
};

/** The object and the name of a method that is called; undefined for other expressions. */
export const methodOf = (node: Node): { readonly object: Node; readonly method: string } | undefined => {
  if (node.type !== "CallExpression") return undefined;
  const callee = bare(node.callee as Node);
  const method = memberName(callee);
  return method === undefined ? undefined : { object: bare(callee.object as Node), method };
};

interface Variable {
  readonly defs: readonly { readonly type: string; readonly node: Node }[];
}

const variableOf = (sourceCode: SourceCode, node: Node): Variable | undefined => {
  for (let scope: Scope | null = sourceCode.getScope(node); scope; scope = scope.upper) {
    const found = scope.set.get(node.name as string);
    if (found) return found as Variable;
  }
  return undefined;
};

/** How a file without types tells connections: by `….connect()` and `db.as()`, and by the names that are known to be some. */
const isConnection = (sourceCode: SourceCode, given: Node, names: readonly string[], depth = 0): boolean => {
  const node = bare(given);
  if (depth > 8) return false;
  if (node.type === "Identifier") {
    const definition = variableOf(sourceCode, node)?.defs[0];
    const declared = definition?.type === "Variable" ? (definition.node.init as Node | null) : null;
    if (definition?.type === "Variable" && declared) {
      const id = definition.node.id as Node;
      return id.type === "Identifier" && isConnection(sourceCode, declared, names, depth + 1);
    }
    // A parameter, an import or a name that another script declares.
    return names.includes(node.name as string);
  }
  if (memberName(node) !== undefined && (node.object as Node).type === "ThisExpression") return names.includes(memberName(node)!);
  const called = methodOf(node);
  if (called?.method === "as") return isConnection(sourceCode, called.object, names, depth + 1);
  return called?.method === "connect" && isGraph(sourceCode, called.object, depth + 1);
};

// `client.connect()` of another library is not taken for a connection: a model is made by defineGraph, or imported.
const isGraph = (sourceCode: SourceCode, given: Node, depth: number): boolean => {
  const node = bare(given);
  if (node.type === "CallExpression") return (bare(node.callee as Node).name as string | undefined) === "defineGraph";
  if (node.type !== "Identifier" || depth > 8) return false;
  const definition = variableOf(sourceCode, node)?.defs[0];
  if (definition?.type === "ImportBinding") return isRelative(definition.node);
  const declared = definition?.type === "Variable" ? (definition.node.init as Node | null) : null;
  return declared ? isGraph(sourceCode, declared, depth + 1) : false;
};

// A model is a file of the program, not a package.
const isRelative = (specifier: Node): boolean => {
  const source = specifier.parent?.source as Node | undefined;
  return typeof source?.value === "string" && /^[.#~@]/.test(source.value);
};

const isOfGrid = (sourceCode: SourceCode, last: NonNullable<ReturnType<typeof methodOf>>, names: readonly string[]): boolean => {
  for (let at = methodOf(last.object); at; at = methodOf(at.object)) {
    const calls = Object.hasOwn(GRIDS, at.method) ? GRIDS[at.method] : undefined;
    if (!calls?.includes(last.method) || memberName(at.object) === undefined) continue;
    return isConnection(sourceCode, bare(at.object.object as Node), names);
  }
  return false;
};

const withoutTypes = (sourceCode: SourceCode, node: Node, names: readonly string[]): Shape => {
  const last = methodOf(node);
  if (!last) return NOTHING;
  if (last.method === "transact" || last.method === "batch") return isConnection(sourceCode, last.object, names) ? WRITE : NOTHING;
  // db.user.create(…)
  const kind = memberName(last.object) === undefined ? undefined : bare(last.object.object as Node);
  const isKind = !ADMINISTRATION.has(memberName(last.object) ?? "");
  if (kind && isKind && ofKind.has(last.method) && isConnection(sourceCode, kind, names)) return writes.has(last.method) ? WRITE : READ;
  if (isOfGrid(sourceCode, last, names)) return READ;
  if (!ofChain.has(last.method)) return NOTHING;
  // db.user(id).out("knows").edges(), db.find("user").rows()
  for (let at: Node | undefined = last.object; at;) {
    const inner: ReturnType<typeof methodOf> = methodOf(at);
    if (inner?.method === "find") return isConnection(sourceCode, inner.object, names) ? READ : NOTHING;
    if (inner) {
      if (isConnection(sourceCode, inner.object, names)) return READ;
      at = inner.object;
    } else return NOTHING;
  }
  return NOTHING;
};

// The compiler may throw for code that it cannot check: the rules then go by how the code is written.
const typeAt = (getTypeAtLocation: (node: Node) => Type, node: Node): Type | undefined => {
  try {
    return getTypeAtLocation(node);
  } catch {
    return undefined;
  }
};

const withTypes = ({ parserServices }: SourceCode, node: Node): Shape | undefined => {
  const { program, getTypeAtLocation } = parserServices ?? {};
  if (!program || !getTypeAtLocation) return undefined;
  const type = typeAt(getTypeAtLocation, node);
  if (!type) return undefined;
  const has = (name: string): boolean => type.getProperty(name) !== undefined;
  if (!has("then") || !has("explain") || !has("report") || !has("run")) return NOTHING;
  return has("orThrow") ? WRITE : READ;
};

/** What an expression is: by its type where the parser knows types, else by how it is written. */
export const shapeOf = (sourceCode: SourceCode, node: Node, names: readonly string[]): Shape =>
  withTypes(sourceCode, node) ?? withoutTypes(sourceCode, node, names);
