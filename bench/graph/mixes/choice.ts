import { shuffled } from "../../measure/random.ts";
import { zipfFrom } from "../../measure/zipf.ts";
import { targetsOf } from "../graphs/graph.ts";
import { idOf } from "../store/rows.ts";
import type { MixPlace } from "./mix.ts";

interface Id {
  readonly id: string;
}

/** Whom a mix asks for. */
export interface Choice {
  /** A node to read: few are read often. */
  reader(): number;
  /** A node to write: other few are written often. */
  writer(): number;
  anyone(): number;
  /** Targets of links from a node, distinct; of a node without links someone to whom there is none. */
  targets(node: number, most: number): readonly Id[];
  /** How many at once: geometric, one or more. */
  several(mean: number): number;
}

/** LinkBench's access: Zipf with shape 0.8 for reads and 0.741 for writes. How often a node is asked for has nothing to do with how many links it has. */
export const choiceOf = ({ graph, random }: Pick<MixPlace, "graph" | "random">): Choice => {
  const byRank = (shape: number): (() => number) => {
    const numbers = Uint32Array.from(shuffled([...Array(graph.nodes).keys()], random));
    const draw = zipfFrom({ ranks: graph.nodes, shape }, random);
    return () => numbers[draw()] as number;
  };
  const anyone = (): number => Math.floor(graph.nodes * random());
  const targets = (node: number, most: number): readonly Id[] => {
    const all = targetsOf(graph, node);
    if (all.length === 0) return [idOf(anyone())];
    const first = Math.floor(all.length * random());
    return Array.from({ length: Math.min(most, all.length) }, (_, step) => idOf(all[(first + step) % all.length] as number));
  };
  const several = (mean: number): number => 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / mean));
  return { reader: byRank(0.8), writer: byRank(0.741), anyone, targets, several };
};
