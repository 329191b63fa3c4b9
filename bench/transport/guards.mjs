/**
 * What the server in front of the engine costs: the same calls to the bare engine, to an engine whose guards run in this
 * process (`startEngine()`), and to one whose guards run in a process of their own (`edgetable dev`), in one run, interleaved.
 *
 *   npm run build && node bench/transport/guards.mjs [--calls 500] [--rounds 9] [--concurrency 1,32]
 *
 * Printed are medians over rounds: µs per call (wall time of a block over its calls), calls a second, and µs of CPU per call
 * in this process, which "in process" has the guards' share in.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startEngine } from "@edgetable/local";
import { createLeanTransport } from "edgetable";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "500" },
    rounds: { type: "string", default: "9" },
    concurrency: { type: "string", default: "1,32" },
  },
});
const perBlock = Number(values.calls);
const rounds = Number(values.rounds);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const bin = fileURLToPath(new URL("../../packages/cli/bin/edgetable.js", import.meta.url));
const dev = spawn(process.execPath, [bin, "dev", "--memory", "--json"], { cwd: tmpdir(), stdio: ["ignore", "pipe", "inherit"] });
const engine = await startEngine();
const [announced] = await once(dev.stdout, "data");
const endpoints = { bare: engine.bareEndpoint, "in process": engine.endpoint, "edgetable dev": JSON.parse(String(announced)).endpoint };

const text = (S) => ({ S });
const filling = text("x".repeat(200));
const calls = {
  get: ["GetItem", { TableName: "Edges", Key: { source: text("a"), target: text("001") } }],
  put: ["PutItem", { TableName: "Edges", Item: { source: text("b"), target: text("001"), filling } }],
  "query 20": [
    "Query",
    {
      TableName: "Edges",
      KeyConditionExpression: "#s = :s",
      ExpressionAttributeNames: { "#s": "source" },
      ExpressionAttributeValues: { ":s": text("a") },
      Limit: 20,
    },
  ],
};

const fill = async (transport) => {
  const key = ["source", "target"];
  await transport.send("CreateTable", {
    TableName: "Edges",
    AttributeDefinitions: key.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    KeySchema: key.map((AttributeName, at) => ({ AttributeName, KeyType: at === 0 ? "HASH" : "RANGE" })),
    BillingMode: "PAY_PER_REQUEST",
  });
  for (let at = 0; at < 40; at++)
    await transport.send("PutItem", {
      TableName: "Edges",
      Item: { source: text("a"), target: text(String(at).padStart(3, "0")), filling },
    });
};

const block = async (transport, [operation, input], concurrency) => {
  let left = perBlock;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const worker = async () => {
    while (left-- > 0) await transport.send(operation, input);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const wall = ((performance.now() - start) * 1000) / perBlock;
  const { user, system } = process.cpuUsage(cpu);
  return { wall, cpu: (user + system) / perBlock };
};

try {
  const clients = Object.fromEntries(Object.entries(endpoints).map(([name, endpoint]) => [name, createLeanTransport({ endpoint })]));
  await fill(clients.bare);
  await fill(clients["edgetable dev"]);
  for (const concurrency of values.concurrency.split(",").map(Number)) {
    console.log(`\n${concurrency} at a time`.padEnd(20), ...Object.keys(clients).map((name) => name.padStart(30)));
    for (const [name, call] of Object.entries(calls)) {
      const times = Object.fromEntries(Object.keys(clients).map((client) => [client, []]));
      for (let round = -1; round < rounds; round++) {
        for (const [client, transport] of Object.entries(clients)) {
          const time = await block(transport, call, concurrency);
          if (round >= 0) times[client].push(time);
        }
      }
      const cells = Object.values(times).map((each) => {
        const wall = median(each.map((one) => one.wall));
        return `${wall.toFixed(0)} µs, ${(1e6 / wall).toFixed(0)}/s, CPU ${median(each.map((one) => one.cpu)).toFixed(0)}`;
      });
      console.log(name.padEnd(19), ...cells.map((cell) => cell.padStart(30)));
    }
  }
} finally {
  dev.kill("SIGTERM");
  await engine.stop();
}
process.exit(0);
