import { links, social } from "../store/model.ts";
import { placeOf } from "../store/place.ts";
import { walkLayers } from "./layers.ts";
import type { ReadEdges } from "./layers.ts";
import type { Walker, WalkPlace } from "./walk.ts";

interface Id {
  readonly id: string;
}

/** The library's one-hop calls in a loop of one's own: what a walk in one call must not be slower than. */
export const connect = ({ endpoint, table }: WalkPlace): Walker => {
  const db = table === "Social" ? social.connect(placeOf(endpoint)) : undefined;
  const listed = links.connect(placeOf(endpoint));
  const callOf = (id: Id, side: "out" | "in") => {
    if (db) return side === "out" ? db.user(id).out("follows").ids() : db.user(id).in("follows").ids();
    return side === "out" ? listed.object(id).out("link").unordered().ids() : listed.object(id).in("link").unordered().ids();
  };
  const read: ReadEdges = async (node, side, found) => {
    const { value, requests } = await callOf({ id: node }, side).report();
    for (const { id } of value) found(id);
    return requests.length;
  };
  const close = async (): Promise<void> => {
    await db?.close();
    await listed.close();
  };
  return { walk: (neighbourhood) => walkLayers(read, neighbourhood), close };
};
