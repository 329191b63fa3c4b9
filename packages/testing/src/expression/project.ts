import type { AttributeValue, Item } from "edgetable";
import { type Names, type Path, readPath } from "./path.ts";
import { tokensOf } from "./tokens.ts";

/** Paths of a ProjectionExpression as a tree; a branch without children takes the whole value. */
interface Branch {
  readonly children: Map<string | number, Branch>;
}

const plant = (root: Branch, path: Path): void => {
  let branch = root;
  for (const segment of path) {
    const next = branch.children.get(segment) ?? { children: new Map() };
    branch.children.set(segment, next);
    branch = next;
  }
};

const takeFrom = (value: AttributeValue, branch: Branch): AttributeValue | undefined => {
  if (branch.children.size === 0) return value;
  if ("M" in value) {
    const inner = takeEntries(value.M, branch);
    return Object.keys(inner).length === 0 ? undefined : { M: inner };
  }
  if (!("L" in value)) return undefined;
  const elements = value.L.flatMap((element, position) => {
    const child = branch.children.get(position);
    const taken = child && takeFrom(element, child);
    return taken ? [taken] : [];
  });
  return elements.length === 0 ? undefined : { L: elements };
};

const takeEntries = (map: Item, branch: Branch): Item => {
  const entries = Object.entries(map).flatMap(([name, value]) => {
    const child = branch.children.get(name);
    const taken = child && takeFrom(value, child);
    return taken ? [[name, taken] as const] : [];
  });
  return Object.fromEntries(entries);
};

/**
 * Reads a ProjectionExpression into the function that applies it.
 *
 * @throws {plan.unsupported} when it is not a list of paths
 */
export const parseProjection = (text: string, names: Names): ((item: Item) => Item) => {
  const tokens = tokensOf(text);
  const root: Branch = { children: new Map() };
  do plant(root, readPath(tokens, names));
  while (tokens.accept(","));
  if (tokens.peek() !== "") tokens.fail();
  return (item) => takeEntries(item, root);
};
