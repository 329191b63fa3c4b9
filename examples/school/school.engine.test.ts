import { describeExample } from "../test-support/describe-example.ts";
import { system } from "./system.ts";

const [example] = await system.tables();

describeExample("school", example!, { seed: "school.json" });
