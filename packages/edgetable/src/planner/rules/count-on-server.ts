import { bottomUp, type Rule } from "./rule.ts";

const COUNTED: ReadonlySet<string> = new Set(["expand", "parts", "search"]);

/**
 * Asks DynamoDB for the count alone where it can see every condition: the same units, no items sent. In an
 * adopted table it cannot see which items the model knows: there what tells them apart is sent, and no more.
 */
export const countOnServer: Rule = {
  name: "count-on-server",
  rewrite: (_, plan) =>
    bottomUp(plan, (node) => (node.kind === "count" && COUNTED.has(node.input.kind) ? { ...node, server: true } : node)),
};
