import { bare, methodOf, shapeOf } from "./call-shapes.ts";
import { connectionNames, type Node, type Rule, type RuleContext } from "./rule-types.ts";

// These send what they are called on, and return a promise of their own.
const SENDS: ReadonlySet<string> = new Set(["orThrow", "run", "report", "start"]);
// These call back for each element and drop what the callback returns.
const DROPS: ReadonlySet<string> = new Set(["forEach"]);

/** The expressions whose values an expression drops if it is a statement. */
const dropped = (given: Node): readonly Node[] => {
  const node = bare(given);
  switch (node.type) {
    case "LogicalExpression":
      return dropped(node.right as Node);
    case "ConditionalExpression":
      return [...dropped(node.consequent as Node), ...dropped(node.alternate as Node)];
    case "SequenceExpression":
      return (node.expressions as readonly Node[]).flatMap(dropped);
    case "UnaryExpression":
      return node.operator === "void" ? dropped(node.argument as Node) : [];
    case "ArrayExpression":
      return (node.elements as readonly (Node | null)[]).flatMap((element) => (element ? dropped(element) : []));
    default:
      return [node];
  }
};

/** Finds calls that are never made, because nothing awaits, returns or combines them. */
export const noFloatingCalls: Rule = {
  meta: {
    type: "problem",
    docs: {
      description: "Require that calls of Edgetable are awaited, returned or combined: nothing is sent before",
      url: "https://www.npmjs.com/package/@edgetable/eslint-plugin#no-floating-calls",
    },
    messages: {
      neverSent: "This call is never sent, because nothing awaits it. Await it, return it, or give it to db.transact() or db.batch().",
      unawaited: "Nobody awaits what {{method}}() returns: an error of this call would be an unhandled rejection. Await or return it.",
      addAwait: "Await the call.",
    },
    schema: [],
    hasSuggestions: true,
  },
  create(context: RuleContext) {
    const { sourceCode } = context;
    const names = connectionNames(context);
    const report = (node: Node, messageId: "neverSent" | "unawaited", method = ""): void =>
      context.report({
        node,
        messageId,
        data: { method },
        suggest: [{ messageId: "addAwait", fix: (fixer) => fixer.insertTextBefore(node, "await ") }],
      });
    const check = (node: Node): void => {
      if (shapeOf(sourceCode, node, names).isCall) return report(node, "neverSent");
      const called = methodOf(node);
      if (called && SENDS.has(called.method) && shapeOf(sourceCode, called.object, names).isCall) report(node, "unawaited", called.method);
    };
    return {
      ExpressionStatement: ({ expression }: Node) => {
        for (const node of dropped(expression as Node)) check(node);
      },
      // rows.forEach((row) => db.user.put(row))
      ArrowFunctionExpression: ({ body, parent, async: isAsync, expression }: Node) => {
        const called = parent && methodOf(parent);
        if (!expression || isAsync || !called || !DROPS.has(called.method)) return;
        for (const node of dropped(body as Node)) check(node);
      },
    };
  },
};
