import { recommendShards } from "edgetable/check";
import { simulate } from "./simulate.ts";
import { shareOfFirst } from "../measure/zipf.ts";

// `table.js [writes a second] [values]`: what an index takes against the skew of its values, before and after sharding.
const [writes = "20000", distinct = "1000"] = process.argv.slice(2);
const writesPerSecond = Number(writes);
const values = Number(distinct);
const common = { values, writesPerSecond, searchesPerSecond: 100, rowsPerSearch: 20, itemBytes: 200, seconds: 20, seed: 20_261_121 };

const rows = [0, 0.4, 0.8, 0.99, 1.2, 1.5].map((skew) => {
  const share = shareOfFirst({ ranks: values, shape: skew });
  const { shards } = recommendShards({ writesPerSecond, share });
  const [one, sharded] = [simulate({ ...common, skew, shards: 1 }), simulate({ ...common, skew, shards })];
  const percent = (part: number): string => `${((100 * part) / writesPerSecond).toFixed(1)} %`;
  return {
    skew,
    "hottest value": `${(100 * share).toFixed(1)} %`,
    "taken with 1 shard": percent(one.writes),
    "recommended shards": shards,
    "taken with them": percent(sharded.writes),
    "searches answered": `${sharded.searches.toFixed(0)} of ${common.searchesPerSecond}`,
  };
});
console.table(rows);
