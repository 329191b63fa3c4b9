import type { Command } from "./commands.ts";
import { findThings } from "./finds.ts";
import type { Place } from "./model.ts";
import { NaiveGraph } from "../naive/graph.ts";
import { readNeighbours, readPoint } from "./reads.ts";
import { edgeTypes, idsOf, plainTexts, someTexts } from "./vocabulary.ts";
import { walkOn } from "./walks.ts";
import type { Db, World } from "./world.ts";
import { deleteNode, writeEdge, writeNode } from "./writes.ts";

const step = (world: World, command: Command): Promise<void> => {
  switch (command.kind) {
    case "create":
    case "put":
    case "update":
      return writeNode(world, command);
    case "delete":
      return deleteNode(world, command);
    case "read":
      return readNeighbours(world, command);
    case "point":
      return readPoint(world, command);
    case "find":
      return findThings(world, command);
    case "walk":
      return walkOn(world, command.numbers);
    default:
      return writeEdge(world, command);
  }
};

/** Runs a history on the library and on the reference, and compares every answer. */
export const runHistory = async (db: Db, place: Place, commands: readonly Command[]): Promise<void> => {
  const texts = place.own ? someTexts : plainTexts;
  const world: World = { db, graph: new NaiveGraph(edgeTypes), place, ids: idsOf(texts), texts };
  for (const command of commands) await step(world, command);
};
