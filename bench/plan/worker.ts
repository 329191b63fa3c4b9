import { answerParent } from "../workers/child.ts";
import { measurePlans } from "./measure.ts";

answerParent(measurePlans);
