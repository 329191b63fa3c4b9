import { runDemo } from "./demo/run-demo.ts";
import { systems } from "./systems.ts";

const interruption = new AbortController();
const interrupt = (): void => interruption.abort(new Error("interrupted"));
process.once("SIGINT", interrupt).once("SIGTERM", interrupt);

// A reader that has seen enough (`| head`) ends the demo, quietly.
process.stdout.on("error", interrupt);

process.exitCode = await runDemo(process.argv.slice(2), {
  systems,
  output: process.stdout,
  errors: process.stderr,
  environment: process.env,
  signal: interruption.signal,
});
