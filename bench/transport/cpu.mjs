/**
 * Client CPU per call of transports, all in one run and interleaved, on a dynoxide of its own:
 * lib-dynamodb (= 1.00), a tuned node:http client, and the lean transport over raw sockets.
 *
 *   npm run build && node bench/transport/cpu.mjs [--calls 1000] [--rounds 7] [--concurrency 1,32]
 *
 * CPU is process.cpuUsage (user and system) of this process over a block of calls; the figure of a
 * call is the median over rounds, the ratio of a client the geometric mean over the eight calls.
 */
import { parseArgs } from "node:util";
import { startEngine } from "@edgetable/local";
import { bundle } from "./bundle-lean.mjs";
import { calls, seed } from "./calls.mjs";
import { httpClient } from "./http-client.mjs";
import { libClient } from "./lib-client.mjs";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000" },
    rounds: { type: "string", default: "7" },
    concurrency: { type: "string", default: "1,32" },
  },
});
const perBlock = Number(values.calls);
const rounds = Number(values.rounds);

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const geometricMean = (numbers) => Math.exp(numbers.reduce((sum, each) => sum + Math.log(each), 0) / numbers.length);

/** Sends every input, so many at a time; gives µs of CPU and of wall time per call. */
const runBlock = async ({ send, operation }, inputs, concurrency) => {
  let next = 0;
  const worker = async () => {
    while (next < inputs.length) await send(operation, inputs[next++]);
  };
  const cpu = process.cpuUsage();
  const wall = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const used = process.cpuUsage(cpu);
  return { cpu: (used.user + used.system) / inputs.length, wall: ((performance.now() - wall) * 1000) / inputs.length };
};

const measure = async (clients, concurrency) => {
  const samples = Object.fromEntries(clients.map(({ name }) => [name, calls.map(() => [])]));
  for (let round = -2; round < rounds; round++) {
    for (const [index, call] of calls.entries()) {
      for (let turn = 0; turn < clients.length; turn++) {
        const client = clients[(turn + round + 2) % clients.length];
        const inputs = Array.from({ length: perBlock }, (_, at) =>
          client.prepare(call.input(`${client.name}.${concurrency}.${round}.${at}`, at)),
        );
        globalThis.gc?.();
        const sample = await runBlock({ send: client.send, operation: call.operation }, inputs, concurrency);
        if (round >= 0) samples[client.name][index].push(sample);
      }
    }
  }
  return samples;
};

const report = (samples, concurrency) => {
  const figure = (name, index, kind) => median(samples[name][index].map((sample) => sample[kind]));
  const [base] = Object.keys(samples);
  console.log(`\n${concurrency} at a time: µs CPU per call`);
  console.log(["client".padEnd(14), ...calls.map(({ name }) => name.padStart(11)), "CPU ratio", "calls/s ratio"].join(" "));
  for (const name of Object.keys(samples)) {
    const cpu = calls.map((_, index) => figure(name, index, "cpu"));
    const ratio = geometricMean(cpu.map((each, index) => each / figure(base, index, "cpu")));
    const speed = geometricMean(calls.map((_, index) => figure(base, index, "wall") / figure(name, index, "wall")));
    console.log(
      [
        name.padEnd(14),
        ...cpu.map((each) => each.toFixed(0).padStart(11)),
        ratio.toFixed(3).padStart(9),
        speed.toFixed(2).padStart(13),
      ].join(" "),
    );
  }
};

// The bare endpoint: the guards run in this process, which is measured.
const { bareEndpoint: endpoint, stop } = await startEngine();
try {
  const { createLeanTransport } = await bundle();
  const lean = createLeanTransport({ endpoint: endpoint, region: "us-east-1" });
  const same = (input) => input;
  const clients = [
    libClient(endpoint),
    { name: "node:http", send: httpClient(endpoint), prepare: same },
    { name: "lean", send: (operation, input) => lean.send(operation, input), prepare: same },
  ];
  await seed((operation, input) => lean.send(operation, input));
  for (const concurrency of values.concurrency.split(",").map(Number)) report(await measure(clients, concurrency), concurrency);
} finally {
  await stop();
}
process.exit(0);
