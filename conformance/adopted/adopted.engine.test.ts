import { describeDesign } from "./describe-design.ts";
import { designs } from "./designs.ts";

for (const design of designs) describeDesign(design);
