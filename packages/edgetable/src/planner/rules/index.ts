import { countOnServer } from "./count-on-server.ts";
import { filterOnServer } from "./filter-on-server.ts";
import { pushConditionsIntoKeys } from "./push-conditions-into-keys.ts";
import { pushConditionsIntoSearch } from "./push-conditions-into-search.ts";
import type { Rule } from "./rule.ts";
import { useEmbeddedNode } from "./use-embedded-node.ts";

/** Every rule, in the order in which they run. Each can be switched off by name; answers stay the same. */
export const rules: readonly Rule[] = [pushConditionsIntoKeys, pushConditionsIntoSearch, filterOnServer, countOnServer, useEmbeddedNode];
