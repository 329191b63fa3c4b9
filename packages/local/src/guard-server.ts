import { once } from "node:events";
import { Agent, createServer, request as sendRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import zlib from "node:zlib";
import { guard, mayConcern, type Guarded, type Json } from "./guards.ts";
import { host, type Address } from "./loopback.ts";
import { corsHeaders, preflightHeaders, refusalOf, type Visitors } from "./visitors.ts";

/** How to stand in front of an engine. */
export interface GuardOptions {
  /** Where the bare engine listens. */
  readonly engine: Address;
  /** Port on 127.0.0.1. @default a free one */
  readonly port?: number | undefined;
  readonly visitors: Visitors;
  /** Whether the engine has the faults that the guards correct. */
  readonly corrects: boolean;
}

/** The server on the port that clients connect to. */
export interface GuardServer {
  readonly port: number;
  /** Listens no more, and settles once every request has its answer. */
  close(): Promise<void>;
}

// DynamoDB takes 16 MB (BatchWriteItem), the engine some more; it answers 413 itself to what lies between.
const mostBytes = 32 * 1024 * 1024;

const target = /^DynamoDB(?:Streams)?_2012\d{4}\.(\w+)$/;
const contentType = /^application\/x-amz-json-1\.0\s*(?:;|$)/i;
// Bytes of an answer up to which it is cheaper to wait for all of it than to pass it on in pieces.
const small = 65_536;
// How long a request may still take when the engine is gone, or told to go.
const longestClose = 1_000;

interface Fault {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

const invalid = (message: string): Fault => ({ status: 400, type: "com.amazon.coral.validate#ValidationException", message });
const unknownOperation = (message: string): Fault => ({ status: 400, type: "com.amazon.coral.service#UnknownOperationException", message });
const broken = (message: string): Fault => ({
  status: 500,
  type: "com.amazonaws.dynamodb.v20120810#InternalServerError",
  message,
});

const unreadable: Fault = { status: 400, type: "com.amazon.coral.service#SerializationException", message: "The request cannot be read." };

const crcOf = (body: Buffer): readonly string[] => {
  // zlib.crc32 came with Node 20.15. The header is optional, so older ones leave it out.
  const crc32: ((bytes: Buffer) => number) | undefined = zlib.crc32;
  return crc32 === undefined ? [] : ["x-amz-crc32", String(crc32(body))];
};

const answerFault = (response: ServerResponse, { status, type, message }: Fault, headers: readonly string[] = []): void => {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const body = Buffer.from(JSON.stringify({ __type: type, message }));
  const fixed = ["content-type", "application/x-amz-json-1.0", "content-length", String(body.length), ...crcOf(body)];
  response.writeHead(status, [...fixed, ...headers]).end(body);
};

/** The whole body; undefined where it is longer than anybody takes. */
const bodyOf = (message: IncomingMessage, most = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> =>
  // By events: an async iterator costs 20 µs a message.
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    message.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= most) chunks.push(chunk);
      else resolve(undefined);
    });
    message.once("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    message.once("error", reject);
    // A client that leaves in the middle ends its request without an end.
    message.once("close", () => reject(new Error("the request was cut off")));
  });

const parse = (body: Buffer): Json | undefined => {
  try {
    const parsed: unknown = JSON.parse(body.toString("utf8"));
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as Json) : undefined;
  } catch {
    return undefined;
  }
};

// Of one connection only, or of the bare engine's own making: which web pages may read it is decided here.
const notPassedOn: ReadonlySet<string> = new Set(
  "connection keep-alive transfer-encoding origin host expect accept-encoding content-length".split(" "),
);

const passedOn = (raw: readonly string[], but?: string): string[] => {
  const headers: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    if (notPassedOn.has(name) || name === but || name.startsWith("access-control-")) continue;
    headers.push(name, raw[at + 1] as string);
  }
  return headers;
};

const passOn = async (
  answer: IncomingMessage,
  response: ServerResponse,
  call: { correct?: Guarded["correct"]; cors: readonly string[] },
) => {
  const { correct, cors } = call;
  const length = answer.headers["content-length"];
  const status = answer.statusCode ?? 502;
  if ((correct === undefined || status !== 200) && !(Number(length) < small)) {
    response.writeHead(status, [...passedOn(answer.rawHeaders), ...(length === undefined ? [] : ["content-length", length]), ...cors]);
    answer.pipe(response);
    return;
  }
  const body = (await bodyOf(answer)) as Buffer;
  const output = correct === undefined || status !== 200 ? undefined : parse(body);
  const corrected = output && correct?.(output);
  const bytes = corrected === undefined || corrected === output ? body : Buffer.from(JSON.stringify(corrected));
  const headers = passedOn(answer.rawHeaders, bytes === body ? undefined : "x-amz-crc32");
  response.writeHead(status, [...headers, "content-length", String(bytes.length), ...(bytes === body ? [] : crcOf(bytes)), ...cors]);
  response.end(bytes);
};

interface Call {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  /** Headers that let a page of an allowed origin read the answer. */
  readonly cors: readonly string[];
}

interface Upstream extends Address {
  readonly agent: Agent;
  readonly corrects: boolean;
}

/** Sends one request to the bare engine, and its answer back. */
const forward = (
  { message, response, cors }: Call,
  { host, port, agent }: Upstream,
  sent: { readonly body: Buffer; readonly correct?: Guarded["correct"] },
): void => {
  const headers = [...passedOn(message.rawHeaders), "host", `${host}:${port}`, "content-length", String(sent.body.length)];
  const outgoing = sendRequest({ host, port, agent, method: message.method, path: message.url, headers });
  const fail = (error: Error): void => {
    response.shouldKeepAlive = false;
    answerFault(
      response,
      broken(`The engine closed the connection without an answer (${error.message}). It may have ended: see what started it.`),
      cors,
    );
  };
  outgoing.on("error", fail);
  outgoing.on("response", (answer) => {
    answer.on("error", fail);
    passOn(answer, response, { correct: sent.correct, cors }).catch(fail);
  });
  // A client that leaves needs no answer.
  response.on("close", () => void (response.writableFinished || outgoing.destroy()));
  outgoing.end(sent.body);
};

const handle = async (call: Call, to: Upstream): Promise<void> => {
  const { message, response, cors } = call;
  const { method, headers } = message;
  // Health checks.
  if (method === "GET" || method === "HEAD") return forward(call, to, { body: Buffer.alloc(0) });
  if (method !== "POST") return answerFault(response, { ...unknownOperation(`Send POST, not ${method}.`), status: 405 }, cors);
  // A web page may send a form or plain text to any origin without asking, so nothing but DynamoDB's own type gets in.
  if (!contentType.test(headers["content-type"] ?? "") || (headers["content-encoding"] ?? "identity") !== "identity")
    return answerFault(
      response,
      { ...unknownOperation("Send Content-Type: application/x-amz-json-1.0, not compressed."), status: 415 },
      cors,
    );
  const operation = target.exec(String(headers["x-amz-target"]))?.[1];
  if (operation === undefined)
    return answerFault(response, unknownOperation("X-Amz-Target names no operation, such as DynamoDB_20120810.GetItem."), cors);
  const body = await bodyOf(message, mostBytes);
  if (body === undefined)
    return answerFault(response, { ...invalid("The request is longer than 16 MB."), status: 413 }, [...cors, "connection", "close"]);
  const input = to.corrects && mayConcern(operation, body) ? parse(body) : undefined;
  // What is not JSON the engine refuses itself.
  if (input === undefined) return forward(call, to, { body });
  const guarded = guard(operation, input);
  if (guarded.refusal !== undefined) return answerFault(response, invalid(guarded.refusal), cors);
  forward(call, to, { body: guarded.input === input ? body : Buffer.from(JSON.stringify(guarded.input)), correct: guarded.correct });
};

const listen = async (server: Server, port: number): Promise<number> => {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

/**
 * Starts the server that stands in front of the bare engine, on 127.0.0.1: it applies the guards, and keeps web pages out.
 *
 * @throws the error of `listen`, such as EADDRINUSE
 */
export const startGuardServer = async ({ engine, port = 0, visitors, corrects }: GuardOptions): Promise<GuardServer> => {
  const agent = new Agent({ keepAlive: true, noDelay: true });
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, noDelay: true }, (message, response) => {
    const refusal = refusalOf(message, visitors);
    if (refusal !== undefined)
      return answerFault(response, { status: 403, type: "com.amazon.coral.service#AccessDeniedException", message: refusal });
    const cors = corsHeaders(message);
    if (!server.listening) response.shouldKeepAlive = false;
    if (message.method === "OPTIONS") return void response.writeHead(204, [...cors, ...preflightHeaders(message)]).end();
    // JSON too deep to be written again; or a client that left, which gets no answer.
    const refuse = (): void => answerFault(response, unreadable, cors);
    handle({ message, response, cors }, { ...engine, agent, corrects }).catch(refuse);
  });
  server.on("connection", (socket) => socket.unref());
  const listening = await listen(server, port);
  server.unref();
  return {
    port: listening,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      const force = setTimeout(() => server.closeAllConnections(), longestClose);
      await closed;
      clearTimeout(force);
      agent.destroy();
    },
  };
};
