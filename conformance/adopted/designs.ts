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
import { library } from "./library.ts";
import { logShards } from "./log-shards.ts";
import { northwind } from "./northwind.ts";
import { onlineShop } from "./online-shop.ts";
import { recurringPayments } from "./recurring-payments.ts";
import { sessionStore } from "./session-store.ts";
import { sessions } from "./sessions.ts";
import { shoppingCart } from "./shopping-cart.ts";
import { taskManager } from "./task-manager.ts";
import { versionControl } from "./version-control.ts";
import type { Design } from "./describe-design.ts";

/** Every published design. */
export const designs = [
  authjs,
  battleRoyale,
  chat,
  complaints,
  deals,
  ecommerce,
  employees,
  gameScores,
  github,
  idempotency,
  instagram,
  library,
  logShards,
  northwind,
  onlineShop,
  recurringPayments,
  sessionStore,
  sessions,
  shoppingCart,
  taskManager,
  versionControl,
] as unknown as readonly Design<object>[];
