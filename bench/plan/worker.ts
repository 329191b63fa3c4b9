import { knownPlans } from "./known-plans.ts";
import { answerParent } from "../workers/child.ts";
import { measurePlans } from "./measure.ts";

answerParent(async () => measurePlans(knownPlans()));
