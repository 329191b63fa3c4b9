import { packGraph } from "./graph.ts";
import type { Graph } from "./graph.ts";

/** A tree of two levels: node 0, `width` nodes below it, and so many below each of these that the last level has `ids`, a multiple of `width`. */
export const fan = ({ ids, width }: { readonly ids: number; readonly width: number }): Graph => {
  const from = new Uint32Array(width + ids);
  const to = Uint32Array.from(from, (_, index) => index + 1);
  for (let index = 0; index < ids; index++) from[width + index] = 1 + (index % width);
  return packGraph(1 + width + ids, from, to);
};
