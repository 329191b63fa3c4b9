import { bottomUp, type Rule } from "./rule.ts";

/** Asks DynamoDB for the count alone where it can see every condition: the same units, no items sent. */
export const countOnServer: Rule = {
  name: "count-on-server",
  rewrite: (_, plan) =>
    bottomUp(plan, (node) =>
      node.kind === "count" && (node.input.kind === "expand" || node.input.kind === "parts") ? { ...node, server: true } : node,
    ),
};
