// A function that is kept in a variable at the top of a file becomes a declaration: `var f = (a) => b` is written
// `function f(a) { return b; }`. Where a file is loaded by a first call, bundlers that make one file of everything put
// it, and all that it imports, into a function of its own, which is parsed when the bundle is read and once more when
// it is called. Declarations they leave outside. Why, and figures: docs/bundle.md.
import MagicString from "magic-string";
import { parseAst } from "vite";

/** Whether an arrow function takes something from around it that a declaration would have of its own. */
const borrows = (node) => {
  if (node === null || typeof node !== "object") return false;
  if (Array.isArray(node)) return node.some(borrows);
  if (node.type === "ThisExpression" || node.type === "Super" || node.type === "MetaProperty") return true;
  if (node.type === "Identifier" && node.name === "arguments") return true;
  if (node.type === "FunctionExpression" || node.type === "FunctionDeclaration") return false;
  return Object.values(node).some(borrows);
};

/** The arrow function of a statement that is `var name = (…) => …` and nothing else. */
const arrowOf = (statement) => {
  if (statement.type !== "VariableDeclaration" || statement.declarations.length !== 1) return undefined;
  const { id, init } = statement.declarations[0];
  return id.type === "Identifier" && init?.type === "ArrowFunctionExpression" && !borrows(init) ? init : undefined;
};

const firstAfter = (code, from) => from + code.slice(from).search(/\S/);

/** Gives the code with its top-level arrow functions as declarations, and the map from one to the other. */
export const declareFunctions = (code) => {
  const edited = new MagicString(code);
  for (const statement of parseAst(code).body) {
    const arrow = arrowOf(statement);
    if (!arrow) continue;
    const parameters = arrow.async ? firstAfter(code, arrow.start + "async".length) : arrow.start;
    const sign = code.indexOf("=>", arrow.params.at(-1)?.end ?? parameters);
    const body = firstAfter(code, sign + "=>".length);
    const [open, close] = code[parameters] === "(" ? ["", " "] : ["(", ") "];
    const [begin, end] = arrow.body.type === "BlockStatement" ? ["", ""] : ["{ return ", "; }"];
    const { name } = statement.declarations[0].id;
    edited.overwrite(statement.start, parameters, `${arrow.async ? "async " : ""}function ${name}${open}`);
    edited.overwrite(code.slice(0, sign).trimEnd().length, body, close + begin);
    if (arrow.end < statement.end) edited.remove(arrow.end, statement.end);
    edited.appendLeft(arrow.end, end);
  }
  return { code: edited.toString(), map: edited.generateMap({ hires: "boundary" }) };
};
