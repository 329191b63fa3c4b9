import { degreeOf } from "../graphs/graph.ts";
import { idOf, linkData, objectData } from "../store/rows.ts";
import { choiceOf } from "./choice.ts";
import type { Mix, MixCall, MixPlace } from "./mix.ts";

const listLimit = 10_000;
const boundedShare = 0.3;
const multigetMean = 2.6;

const reads = ({ db, graph, random }: MixPlace, choice: ReturnType<typeof choiceOf>): readonly MixCall[] => {
  const list = (): Promise<unknown> => {
    const node = choice.reader();
    const newest = db.object(idOf(node)).out("link").reverse().limit(listLimit);
    if (random() >= boundedShare) return newest.edges().run();
    const { time } = linkData(Math.floor(degreeOf(graph, node) * random()));
    return newest
      .where({ time: { lte: time } })
      .edges()
      .run();
  };
  const getLinks = (): Promise<unknown> => {
    const node = choice.reader();
    return db.link.getMany(idOf(node), choice.targets(node, choice.several(multigetMean))).run();
  };
  return [
    { name: "getlinklist", share: 50.71, run: list },
    { name: "getnode", share: 12.93, run: () => db.object.get(idOf(choice.reader())).run() },
    { name: "countlink", share: 4.89, run: () => db.object(idOf(choice.reader())).out("link").count().run() },
    { name: "getlink (multiget)", share: 0.53, run: getLinks },
  ];
};

const nodeWrites = ({ db, graph }: MixPlace, choice: ReturnType<typeof choiceOf>): readonly MixCall[] => {
  let last = graph.nodes;
  let version = 0;
  return [
    { name: "addnode", share: 2.57, run: () => db.object.create({ ...idOf(last++), ...objectData(0) }).run() },
    { name: "updatenode", share: 7.37, run: () => db.object.update(idOf(choice.writer()), objectData(++version)).run() },
    { name: "deletenode", share: 1.01, run: () => db.object.delete(idOf(choice.writer())).run() },
  ];
};

const linkWrites = ({ db, graph }: MixPlace, choice: ReturnType<typeof choiceOf>): readonly MixCall[] => {
  let position = graph.nodes;
  const toLinked = (make: (from: { readonly id: string }, to: { readonly id: string }) => Promise<unknown>): Promise<unknown> => {
    const node = choice.writer();
    const [to = idOf(0)] = choice.targets(node, 1);
    return make(idOf(node), to);
  };
  return [
    { name: "addlink", share: 8.99, run: () => db.link.put(idOf(choice.writer()), idOf(choice.anyone()), linkData(position++)).run() },
    { name: "updatelink", share: 8.01, run: () => toLinked((from, to) => db.link.relink(from, to, linkData(position++)).run()) },
    { name: "deletelink", share: 2.99, run: () => toLinked((from, to) => db.link.unlink(from, to).run()) },
  ];
};

/**
 * LinkBench's workload, call by call what its store is asked for: lists newest first, links put whether
 * or not they are there, objects deleted without their links, and counts counted, for none are kept.
 */
export const linkBenchMix: Mix = (place) => {
  const choice = choiceOf(place);
  return [...reads(place, choice), ...nodeWrites(place, choice), ...linkWrites(place, choice)];
};
