import { degreeOf } from "../graphs/graph.ts";
import { idOf, linkData } from "../store/rows.ts";
import { choiceOf } from "./choice.ts";
import type { Mix } from "./mix.ts";

const pageLimit = 50;
const multigetMean = 2.6;

/** TAO's reads, which are 99.8 % of what it is asked: association lists newest first, a page of 50. */
export const taoMix: Mix = ({ db, graph, random }) => {
  const choice = choiceOf({ graph, random });
  const newest = (node: number) => db.object(idOf(node)).out("link").reverse();
  const get = (): Promise<unknown> => {
    const node = choice.reader();
    return db.link.getMany(idOf(node), choice.targets(node, choice.several(multigetMean))).run();
  };
  const timeRange = (): Promise<unknown> => {
    const node = choice.reader();
    const high = Math.floor(degreeOf(graph, node) * random());
    const window = { gte: linkData(high >> 1).time, lte: linkData(high).time };
    return newest(node).where({ time: window }).limit(pageLimit).edges().run();
  };
  return [
    { name: "assoc range", share: 40.9, run: () => newest(choice.reader()).range(0, pageLimit).run() },
    { name: "object get", share: 28.9, run: () => db.object.get(idOf(choice.reader())).run() },
    { name: "assoc get", share: 15.7, run: get },
    { name: "assoc count", share: 11.7, run: () => newest(choice.reader()).count().run() },
    { name: "assoc time range", share: 2.8, run: timeRange },
  ];
};
