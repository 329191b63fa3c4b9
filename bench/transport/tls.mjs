/**
 * The same over TLS, against a canned answer in a process of its own: node:https with a keep-alive
 * agent and the lean transport, one request at a time and 32 at a time.
 *
 *   node bench/transport/tls.mjs [--calls 3000] [--rounds 5]
 *
 * Needs the openssl command for a certificate of its own. The figures are µs of this process's CPU per call.
 */
import { execFileSync, fork } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { Agent, createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundle } from "./bundle-lean.mjs";
import { httpClient } from "./http-client.mjs";

const folder = process.env.EDGETABLE_TLS_FOLDER ?? mkdtempSync(join(tmpdir(), "edgetable-tls-"));
const file = (name) => readFileSync(join(folder, name), "utf8");

const serve = () => {
  const body = JSON.stringify({ Item: { PK: { S: "STUDENT#1" }, SK: { S: "#" }, name: { S: "John Doe" } } });
  const answer = (request, response) => {
    request.resume();
    request.on("end", () => response.writeHead(200, { "content-length": body.length }).end(body));
  };
  const server = createServer({ key: file("key.pem"), cert: file("cert.pem") }, answer);
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const cpuPerCall = async (send, calls, concurrency) => {
  let left = calls;
  const input = { TableName: "Education", Key: { PK: { S: "STUDENT#1" }, SK: { S: "#" } } };
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left-- > 0) await send("GetItem", input);
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
};

const main = async () => {
  const { values } = parseArgs({ options: { calls: { type: "string", default: "3000" }, rounds: { type: "string", default: "5" } } });
  const pem = [
    "-keyout",
    join(folder, "key.pem"),
    "-out",
    join(folder, "cert.pem"),
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost",
  ];
  execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", ...pem], {
    stdio: "ignore",
  });
  const child = fork(fileURLToPath(import.meta.url), { env: { ...process.env, EDGETABLE_TLS_FOLDER: folder } });
  const port = await new Promise((resolve) => child.once("message", resolve));
  const [endpoint, ca] = [`https://localhost:${port}`, file("cert.pem")];
  const { createLeanTransport } = await bundle();
  const open = () =>
    createLeanTransport({ endpoint, ca, region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } });
  const kept = open();
  const clients = {
    "node:https": httpClient(endpoint, new Agent({ keepAlive: true, maxSockets: 64, scheduling: "lifo", ca })),
    lean: (operation, input) => kept.send(operation, input),
  };
  for (const concurrency of [1, 32]) {
    const samples = { "node:https": [], lean: [] };
    for (let round = -1; round < Number(values.rounds); round++) {
      for (const [name, send] of Object.entries(clients)) {
        const sample = await cpuPerCall(send, Number(values.calls), concurrency);
        if (round >= 0) samples[name].push(sample);
      }
    }
    console.log(
      `${concurrency} at a time:`,
      Object.entries(samples)
        .map(([name, each]) => `${name} ${median(each).toFixed(1)}`)
        .join(" · "),
    );
  }
  const fresh = async (operation, input) => {
    const transport = open();
    await transport.send(operation, input);
    await transport.close();
  };
  console.log(`a new transport, and so a full handshake, per call: lean ${(await cpuPerCall(fresh, 200, 1)).toFixed(0)}`);
  child.disconnect();
};

if (process.send === undefined) await main();
else serve();
