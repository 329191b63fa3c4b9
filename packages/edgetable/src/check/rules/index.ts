import type { AdviceRule } from "../advice.ts";
import { costlyProjection } from "./costly-projection.ts";
import { highDelimiter } from "./high-delimiter.ts";
import { fewShards } from "./few-shards.ts";
import { hotIndexPartition } from "./hot-index-partition.ts";
import { idleIndexKey } from "./idle-index-key.ts";
import { lostOrder } from "./lost-order.ts";
import { mutableKey } from "./mutable-key.ts";
import { patternRequests } from "./pattern-requests.ts";
import { prefixHazard } from "./prefix-hazard.ts";
import { refusedValues } from "./refused-values.ts";
import { sharedPartition } from "./shared-partition.ts";
import { staleCopy } from "./stale-copy.ts";
import { unboundedCollection } from "./unbounded-collection.ts";

/** Every rule, in the order in which their advice is listed. */
export const adviceRules: readonly AdviceRule[] = [
  sharedPartition,
  hotIndexPartition,
  fewShards,
  idleIndexKey,
  mutableKey,
  staleCopy,
  lostOrder,
  prefixHazard,
  highDelimiter,
  refusedValues,
  costlyProjection,
  unboundedCollection,
  patternRequests,
];
