import { bare, methodOf, shapeOf } from "./call-shapes.ts";
import { connectionNames, type Node, type Rule, type RuleContext } from "./rule-types.ts";

const COMBINERS: ReadonlySet<string> = new Set(["all", "allSettled", "race", "any"]);

/** The calls whose values a combination of promises gives: `Promise.all([a, b])`, `Promise.all(rows.map((row) => a))`. */
const combined = (node: Node): readonly Node[] => {
  const called = methodOf(node);
  if (!called || !COMBINERS.has(called.method) || called.object.name !== "Promise") return [];
  const given = bare((node.arguments as readonly Node[])[0] ?? node);
  if (given.type === "ArrayExpression")
    return (given.elements as readonly (Node | null)[]).flatMap((element) => (element ? [bare(element)] : []));
  const mapped = methodOf(given);
  const callback = (given.arguments as readonly Node[] | undefined)?.[0];
  if (mapped?.method !== "map" || callback?.type !== "ArrowFunctionExpression") return [];
  const body = bare(callback.body as Node);
  return [body.type === "AwaitExpression" ? bare(body.argument as Node) : body];
};

/** The calls whose outcomes an awaited expression drops. */
const outcomes = (given: Node): readonly Node[] => {
  const node = bare(given);
  const many = combined(node);
  if (many.length > 0) return many;
  const called = methodOf(node);
  // `run` makes the call and gives its outcome.
  return called?.method === "run" ? [called.object] : [node];
};

/** The awaited expressions whose values a statement drops. */
const awaited = (given: Node): readonly Node[] => {
  const node = bare(given);
  switch (node.type) {
    case "AwaitExpression":
      return [node.argument as Node];
    case "LogicalExpression":
      return awaited(node.right as Node);
    case "ConditionalExpression":
      return [...awaited(node.consequent as Node), ...awaited(node.alternate as Node)];
    case "SequenceExpression":
      return (node.expressions as readonly Node[]).flatMap(awaited);
    default:
      return [];
  }
};

/** Finds writes whose outcome nobody looks at: one that did not happen would go unnoticed. */
export const noIgnoredOutcomes: Rule = {
  meta: {
    type: "problem",
    docs: {
      description: "Require that the outcome of a write of Edgetable is looked at, or thrown",
      url: "https://www.npmjs.com/package/@edgetable/eslint-plugin#no-ignored-outcomes",
    },
    messages: {
      ignored:
        "This write may not happen, and nobody looks at its outcome. Call .orThrow(), or read `ok` of what it resolves to. `void await` says that either is fine.",
      addOrThrow: "Throw if the write does not happen.",
    },
    schema: [],
    hasSuggestions: true,
  },
  create(context: RuleContext) {
    const { sourceCode } = context;
    const names = connectionNames(context);
    return {
      ExpressionStatement: ({ expression }: Node) => {
        for (const node of awaited(expression as Node).flatMap(outcomes)) {
          if (!shapeOf(sourceCode, node, names).isWrite) continue;
          context.report({
            node,
            messageId: "ignored",
            suggest: [{ messageId: "addOrThrow", fix: (fixer) => fixer.insertTextAfter(node, ".orThrow()") }],
          });
        }
      },
    };
  },
};
