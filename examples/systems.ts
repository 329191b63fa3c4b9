import { system as billingDocs } from "./billing-docs/system.ts";
import { system as billingLab } from "./billing-lab/system.ts";
import { system as dependencies } from "./dependencies/system.ts";
import { system as education } from "./education/system.ts";
import { system as people } from "./people/system.ts";
import { system as school } from "./school/system.ts";
import type { System } from "./system.ts";
import { system as tracker } from "./tracker/system.ts";

/** Every system, in the order in which the demo shows them. */
export const systems: readonly System[] = [billingLab, billingDocs, school, people, tracker, education, dependencies];
