import { randomFrom } from "../../measure/random.ts";
import { answerParent } from "../../workers/child.ts";
import { linksSet } from "../store/data-set.ts";
import { links } from "../store/model.ts";
import { placeOf } from "../store/place.ts";
import { linkBenchMix } from "./linkbench.ts";
import { measureMix } from "./measure-mix.ts";
import type { MixRun } from "./measure-mix.ts";
import { taoMix } from "./tao.ts";

const mixes = { linkbench: linkBenchMix, tao: taoMix } as const;
export type MixName = keyof typeof mixes;

const [mix, endpoint = "", nodes = "", seed = ""] = process.argv.slice(2);
const random = randomFrom(Number(seed) + 1);
const graph = linksSet({ nodes: Number(nodes), seed: Number(seed) }).graph();
const calls = mixes[mix as MixName]({ db: links.connect(placeOf(endpoint)), graph, random });

answerParent<MixRun>((run) => measureMix(calls, random, run));
