import zlib from "node:zlib";
import { once } from "node:events";
import { Agent, type IncomingMessage, type ServerResponse, createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { type Guarded, type Json, guard, mayConcern, type SweptItems } from "./guards.ts";
import { type Address, host } from "./launch.ts";

/**
 * Who may use the engine. A web page in the developer's browser can send requests to every port of 127.0.0.1, also under its
 * own host name if that resolves to this machine (DNS rebinding). Programs send no Origin, and a Host that names this machine.
 */
export interface Visitors {
  /** Origins of web pages that may read and write, such as `http://localhost:5173`. */
  readonly origins: readonly string[];
  /** Names allowed in the Host header besides those of loopback, such as `host.docker.internal`. */
  readonly hosts: readonly string[];
}

const loopbackName = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

/** The reason to refuse a request, if there is one. */
const denial = ({ headers }: Pick<IncomingMessage, "headers">, { origins, hosts }: Visitors): string | undefined => {
  const name = (headers.host ?? "").replace(/:\d*$/, "");
  if (!loopbackName.test(name) && !hosts.includes(name))
    return `The Host header names ${JSON.stringify(name)}, which is not this machine: a web page may have let its own name point here. Allow the name with allowHosts (edgetable dev --allow-host ${name}), or connect to 127.0.0.1.`;
  const { origin } = headers;
  if (origin !== undefined && !origins.includes(origin))
    return `Web pages of ${JSON.stringify(origin)} may not use this engine. Allow the origin with allowOrigins (edgetable dev --allow-origin ${origin}).`;
  return undefined;
};

/** Headers that let a page of an allowed origin read an answer. */
const corsHeaders = ({ headers }: Pick<IncomingMessage, "headers">): readonly string[] =>
  headers.origin === undefined
    ? []
    : ["access-control-allow-origin", headers.origin, "access-control-expose-headers", "x-amzn-requestid, x-amz-crc32", "vary", "origin"];

/** Headers of the answer to a browser's preflight request. */
const preflightHeaders = ({ headers }: Pick<IncomingMessage, "headers">): readonly string[] => [
  "access-control-allow-methods",
  "POST",
  "access-control-allow-headers",
  headers["access-control-request-headers"] ?? "*",
  "access-control-allow-private-network",
  "true",
  "access-control-max-age",
  "600",
];

/** Options of the server in front of an engine. */
export interface GuardOptions {
  /** Where the bare engine listens. */
  readonly engine: Address;
  /** Port on 127.0.0.1. @default a free one */
  readonly port?: number | undefined;
  readonly visitors: Visitors;
  /** True if the engine has the faults that the guards correct. */
  readonly corrects: boolean;
}

/** The server on the port that clients connect to. */
export interface GuardServer {
  readonly port: number;
  /** Stops listening and resolves when every request is answered. */
  close(): Promise<void>;
}

// DynamoDB accepts 16 MB (BatchWriteItem), the engine a little more. The engine answers 413 to sizes between.
const maxBodyBytes = 32 * 1024 * 1024;

const target = /^DynamoDB(?:Streams)?_2012\d{4}\.(\w+)$/;
const contentType = /^application\/x-amz-json-1\.0\s*(?:;|$)/i;
// Below this size in bytes, buffering an answer is cheaper than streaming it.
const small = 65_536;
// Milliseconds that requests may take after the engine has ended or been told to.
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

/** The whole body; undefined if it is longer than the limit. */
const readBody = (message: IncomingMessage, limit = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> =>
  // Events, because an async iterator costs 20 µs a message.
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    message.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= limit) chunks.push(chunk);
      else resolve(undefined);
    });
    message.once("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    message.once("error", reject);
    // A client that disconnects sends no end.
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

// Headers of a single connection, and CORS headers, which this server decides.
const notForwarded: ReadonlySet<string> = new Set(
  "connection keep-alive transfer-encoding origin host expect accept-encoding content-length".split(" "),
);

const forwardedHeaders = (raw: readonly string[], but?: string): string[] => {
  const headers: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    if (notForwarded.has(name) || name === but || name.startsWith("access-control-")) continue;
    headers.push(name, raw[at + 1] as string);
  }
  return headers;
};

const sendAnswer = async (
  answer: IncomingMessage,
  response: ServerResponse,
  call: { correct?: Guarded["correct"]; cors: readonly string[] },
) => {
  const { correct, cors } = call;
  const length = answer.headers["content-length"];
  const status = answer.statusCode ?? 502;
  if ((correct === undefined || status !== 200) && !(Number(length) < small)) {
    response.writeHead(status, [
      ...forwardedHeaders(answer.rawHeaders),
      ...(length === undefined ? [] : ["content-length", length]),
      ...cors,
    ]);
    answer.pipe(response);
    return;
  }
  const body = (await readBody(answer)) as Buffer;
  const output = correct === undefined || status !== 200 ? undefined : parse(body);
  const corrected = output && correct?.(output);
  const bytes = corrected === undefined || corrected === output ? body : Buffer.from(JSON.stringify(corrected));
  const headers = forwardedHeaders(answer.rawHeaders, bytes === body ? undefined : "x-amz-crc32");
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
  readonly swept: SweptItems;
}

/** Sends one request to the bare engine, and its answer back. */
const forward = (
  { message, response, cors }: Call,
  { host, port, agent }: Upstream,
  sent: { readonly body: Buffer; readonly correct?: Guarded["correct"] },
): void => {
  const headers = [...forwardedHeaders(message.rawHeaders), "host", `${host}:${port}`, "content-length", String(sent.body.length)];
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
    sendAnswer(answer, response, { correct: sent.correct, cors }).catch(fail);
  });
  // A client that disconnected needs no answer.
  response.on("close", () => void (response.writableFinished || outgoing.destroy()));
  outgoing.end(sent.body);
};

const handle = async (call: Call, to: Upstream): Promise<void> => {
  const { message, response, cors } = call;
  const { method, headers } = message;
  // Health checks.
  if (method === "GET" || method === "HEAD") return forward(call, to, { body: Buffer.alloc(0) });
  if (method !== "POST") return answerFault(response, { ...unknownOperation(`Send POST, not ${method}.`), status: 405 }, cors);
  // A web page may send a form or plain text to any origin without a preflight, so only DynamoDB's content type is accepted.
  if (!contentType.test(headers["content-type"] ?? "") || (headers["content-encoding"] ?? "identity") !== "identity")
    return answerFault(
      response,
      { ...unknownOperation("Send Content-Type: application/x-amz-json-1.0, not compressed."), status: 415 },
      cors,
    );
  const operation = target.exec(String(headers["x-amz-target"]))?.[1];
  if (operation === undefined)
    return answerFault(response, unknownOperation("X-Amz-Target names no operation, such as DynamoDB_20120810.GetItem."), cors);
  const body = await readBody(message, maxBodyBytes);
  if (body === undefined)
    // The connection stays open while the rest arrives: closing it would break the client's writes, and hide this answer.
    return answerFault(response, { ...invalid("The request is longer than 16 MB."), status: 413 }, cors);
  const input = to.corrects && mayConcern(operation, body) ? parse(body) : undefined;
  // The engine itself refuses what is not JSON.
  if (input === undefined) return forward(call, to, { body });
  const guarded = guard(operation, input, to.swept);
  if (guarded.refusal !== undefined) return answerFault(response, invalid(guarded.refusal), cors);
  forward(call, to, { body: guarded.input === input ? body : Buffer.from(JSON.stringify(guarded.input)), correct: guarded.correct });
};

/**
 * Starts the server in front of the bare engine, on 127.0.0.1. It applies the guards and keeps web pages out.
 *
 * @throws the error of `listen`, such as EADDRINUSE
 */
export const startGuardServer = async ({ engine, port = 0, visitors, corrects }: GuardOptions): Promise<GuardServer> => {
  const agent = new Agent({ keepAlive: true, noDelay: true });
  const swept: SweptItems = new Set();
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, noDelay: true }, (message, response) => {
    const denied = denial(message, visitors);
    if (denied !== undefined)
      return answerFault(response, { status: 403, type: "com.amazon.coral.service#AccessDeniedException", message: denied });
    const cors = corsHeaders(message);
    if (!server.listening) response.shouldKeepAlive = false;
    if (message.method === "OPTIONS") return void response.writeHead(204, [...cors, ...preflightHeaders(message)]).end();
    // It rejects if the JSON is too deep to be written again, or the client disconnected.
    handle({ message, response, cors }, { ...engine, agent, corrects, swept }).catch(() => answerFault(response, unreadable, cors));
  });
  server.on("connection", (socket) => socket.unref());
  server.listen(port, host);
  await once(server, "listening");
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
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
