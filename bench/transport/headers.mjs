/**
 * What one more header costs the embedded engine: the same Query over bare sockets, 32 at a time, with six
 * headers and with seven, in turns.
 *
 *   node bench/transport/headers.mjs [--calls 5000] [--rounds 21]
 *
 * The figures are µs of wall time a request; the engine is what they wait for.
 */
import { connect } from "node:net";
import { parseArgs } from "node:util";
import { startEngine } from "../../packages/local/dist/index.js";

const concurrency = 32;

const headers = (operation, body, more) =>
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-date: 20260101T000000Z\r\nx-amz-target: DynamoDB_20120810.${operation}\r\n` +
  `authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=0\r\n${more}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

// Answers of this bench fit into one packet.
const open = ({ hostname, port }) => {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true }).setEncoding("latin1");
  return {
    ask: (text) =>
      new Promise((resolve, reject) => {
        socket.once("data", (answer) => (answer.startsWith("HTTP/1.1 200") ? resolve(answer) : reject(new Error(answer))));
        socket.write(text);
      }),
    close: () => socket.destroy(),
  };
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const perRequest = async (sockets, text, calls) => {
  let left = calls;
  const before = performance.now();
  await Promise.all(
    sockets.map(async ({ ask }) => {
      while (left-- > 0) await ask(text);
    }),
  );
  return ((performance.now() - before) * 1000) / calls;
};

const fill = async ({ ask }) => {
  const key = [
    ["pk", "HASH"],
    ["sk", "RANGE"],
  ];
  const table = {
    TableName: "Rows",
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: key.map(([AttributeName]) => ({ AttributeName, AttributeType: "S" })),
    KeySchema: key.map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })),
  };
  await ask(headers("CreateTable", JSON.stringify(table), ""));
  for (const sk of ["a", "b", "c"]) {
    await ask(headers("PutItem", JSON.stringify({ TableName: "Rows", Item: { pk: { S: "1" }, sk: { S: sk } } }), ""));
  }
};

const { values } = parseArgs({ options: { calls: { type: "string", default: "5000" }, rounds: { type: "string", default: "21" } } });
const engine = await startEngine();
const sockets = Array.from({ length: concurrency }, () => open(new URL(engine.bareEndpoint)));
try {
  await fill(sockets[0]);
  const query = JSON.stringify({
    TableName: "Rows",
    KeyConditionExpression: "pk = :p",
    ExpressionAttributeValues: { ":p": { S: "1" } },
    ReturnConsumedCapacity: "TOTAL",
  });
  const forms = { "6 headers": "", "7 headers (a: b)": "a: b\r\n", "7 headers (user-agent)": "user-agent: edgetable\r\n" };
  const times = Object.fromEntries(Object.keys(forms).map((name) => [name, []]));
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (const [name, more] of Object.entries(forms)) {
      const time = await perRequest(sockets, headers("Query", query, more), Number(values.calls));
      if (round > 0) times[name].push(time);
    }
  }
  for (const [name, all] of Object.entries(times)) console.log(`${name}: ${median(all).toFixed(0)} µs a request`);
} finally {
  for (const { close } of sockets) close();
  await engine.stop();
}
