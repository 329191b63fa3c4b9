import { expect, test } from "vitest";
import { draftModel } from "../../packages/cli/src/draft/draft-model.ts";
import { printModel } from "../../packages/cli/src/draft/print-model.ts";
import { marshall, type Design } from "./describe-design.ts";
import { authjs } from "./authjs.ts";
import { battleRoyale } from "./battle-royale.ts";
import { chat } from "./chat.ts";
import { complaints } from "./complaints.ts";
import { deals } from "./deals.ts";
import { ecommerce } from "./ecommerce.ts";
import { employees } from "./employees.ts";
import { gameScores } from "./game-scores.ts";
import { github } from "./github.ts";
import { idempotency } from "./idempotency.ts";
import { instagram } from "./instagram.ts";
import { logShards } from "./log-shards.ts";
import { northwind } from "./northwind.ts";
import { onlineShop } from "./online-shop.ts";
import { recurringPayments } from "./recurring-payments.ts";
import { sessionStore } from "./session-store.ts";
import { sessions } from "./sessions.ts";
import { shoppingCart } from "./shopping-cart.ts";
import { taskManager } from "./task-manager.ts";
import { versionControl } from "./version-control.ts";
const all = [authjs,battleRoyale,chat,complaints,deals,ecommerce,employees,gameScores,github,idempotency,instagram,logShards,northwind,onlineShop,recurringPayments,sessionStore,sessions,shoppingCart,taskManager,versionControl] as unknown as Design<unknown>[];
const only = process.env.ONLY;
test("x", () => {
  let out = "";
  for (const d of all) {
    if (only && !only.split(",").includes(d.name)) continue;
    const indexes = Object.fromEntries(Object.entries(d.table.indexes ?? {}).map(([n, i]) => [n, { partitionKey: i.key[0]!, ...(i.key[1] ? { sortKey: i.key[1] } : {}), ...(i.projection ? { projection: i.projection } : {}) }]));
    try {
    const r = draftModel({ name: "T_" + d.name, partitionKey: d.table.key[0]!, ...(d.table.key[1] ? { sortKey: d.table.key[1] } : {}), types: Object.fromEntries((d.table.numbers ?? []).map((n) => [n, "N" as const])), indexes, ...(d.table.ttl ? { ttl: d.table.ttl } : {}), settings: {}, items: d.items.map(marshall) });
    out += `\n=== ${d.name}: ${r.rewritten}/${r.items} ${r.findings.join(" | ")} ${r.doubts}`;
    if (only) out += "\n"+printModel(r.draft,{summary:[],doubts:r.doubts,exported:"graph"});
    for (const m of r.misfits) out += `\n   ${m.name} ${m.differing} ${m.problem} ${JSON.stringify(m.item).slice(0, 200)}`;
    } catch (e) { out += `\n=== ${d.name} THROWS ${(e as Error).stack}`; }
  }
  console.log(out);
});
