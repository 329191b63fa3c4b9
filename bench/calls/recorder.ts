import { Agent, createServer, request } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { answerParent } from "../workers/child.ts";

/** What the parent asks of it. */
export type RecorderQuestion =
  /** Begins to listen; answers with the endpoint. */
  | { readonly kind: "open" }
  /** From now on answers come from memory: the engine behind is not asked again. */
  | { readonly kind: "replay" }
  /** How many reads came that it had no answer for. */
  | { readonly kind: "unknownReads" };

interface Answer {
  readonly headers: string[];
  readonly body: Buffer;
}

// A service that is not the limit: it passes requests on to an engine until it has seen them all, then answers each
// from memory, at once. A read is known by its whole request; a write that is not gets what its operation got last.
const engine = new URL(process.argv[2] ?? "");
const agent = new Agent({ keepAlive: true });
const answers = new Map<string, Answer>();
const lastOf = new Map<string, Answer>();
let replays = false;
let unknownReads = 0;

const writes: ReadonlySet<string> = new Set(["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"]);
const operationOf = ({ headers }: IncomingMessage): string => String(headers["x-amz-target"]).split(".")[1] ?? "";

const ask = (incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { method, headers } = incoming;
    const outgoing = request({ agent, host: engine.hostname, port: engine.port, path: "/", method, headers }, resolve);
    outgoing.on("error", reject).end(body);
  });

const pass = async (incoming: IncomingMessage, response: ServerResponse, asked: Buffer): Promise<void> => {
  const answer = await ask(incoming, asked);
  const body = await buffer(answer);
  const kept = { headers: answer.rawHeaders, body };
  if (answer.statusCode === 200) {
    answers.set(operationOf(incoming) + asked.toString(), kept);
    lastOf.set(operationOf(incoming), kept);
  }
  response.writeHead(answer.statusCode ?? 500, answer.rawHeaders).end(body);
};

const replay = (incoming: IncomingMessage, response: ServerResponse, asked: Buffer): void => {
  const operation = operationOf(incoming);
  const known = answers.get(operation + asked.toString());
  if (!known && !writes.has(operation)) unknownReads++;
  const answer = known ?? lastOf.get(operation);
  if (answer) response.writeHead(200, answer.headers).end(answer.body);
  else response.writeHead(500).end();
};

// A candidate waits for its turn: its sockets stay open meanwhile.
const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
  void buffer(incoming).then((asked) => (replays ? replay(incoming, response, asked) : pass(incoming, response, asked)));
});

answerParent<RecorderQuestion>(async ({ kind }) => {
  if (kind === "unknownReads") return unknownReads;
  if (kind === "replay") return (replays = true);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
