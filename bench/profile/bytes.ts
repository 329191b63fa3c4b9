import { partsOf } from "../bytes/modules.ts";
import { filesOfEightCalls } from "../bytes/loaded-files.ts";
import { sumOf } from "../bytes/run.ts";

// Every source that the eight calls load, with what it takes of the shipped files, in bytes.
const files = await filesOfEightCalls();
const total = await sumOf(files);
for (const { name, minified, gzip } of await partsOf(files, total))
  console.log(`${String(Math.round(gzip)).padStart(6)} gzip ${String(minified).padStart(6)} minified  ${name}`);
console.log(`${total.gzip} gzip ${total.minified} minified`);
process.exit(0);
