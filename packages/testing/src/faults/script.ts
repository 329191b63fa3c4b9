import { EdgetableError } from "edgetable";
import { applies, type Call, type FaultKind, type LagKind } from "./kinds.ts";
import type { ScriptedFault } from "./options.ts";

/** Faults of a script that befall one request: at most one fault and one look into the past. */
export interface ScriptTurn {
  readonly fault?: ScriptedFault & { readonly fault: FaultKind };
  readonly lag?: ScriptedFault & { readonly fault: LagKind };
}

const isLag = (step: ScriptedFault): step is ScriptedFault & { readonly fault: LagKind } =>
  step.fault === "lag" || step.fault === "staleRead";
const isFault = (step: ScriptedFault): step is ScriptedFault & { readonly fault: FaultKind } => !isLag(step);

const fits = (step: ScriptedFault, call: Call): boolean =>
  (step.operation === undefined || step.operation === call.operation) && applies(step.fault, call);

const refuse = (step: ScriptedFault, call: Call): never => {
  const said = step.operation === undefined ? step.fault : `${step.operation} with ${step.fault}`;
  const message = `the script has ${said} for request ${String(step.n)}, which is ${call.operation} and cannot meet it: the calls differ from those recorded`;
  throw new EdgetableError("plan.invalidOption", message, { details: { step, operation: call.operation } });
};

/**
 * Plays a script: steps with an ordinal at that request, the others one after the other, each at the
 * first request that it can befall.
 *
 * @throws {plan.invalidOption} from the player, when a step's request cannot meet the step's fault
 */
export const playScript = (script: readonly ScriptedFault[]): ((n: number, call: Call) => ScriptTurn) => {
  const dated = script.filter(({ n }) => n !== undefined);
  const waiting = script.filter(({ n }) => n === undefined);
  return (n, call) => {
    const due = dated.filter((step) => step.n === n);
    const misfit = due.find((step) => !fits(step, call));
    if (misfit) refuse(misfit, call);
    if (waiting[0] && fits(waiting[0], call)) due.push(...waiting.splice(0, 1));
    const fault = due.find(isFault);
    const lag = due.find(isLag);
    return { ...(fault && { fault }), ...(lag && { lag }) };
  };
};
