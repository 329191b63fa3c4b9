import { createServer, type AddressInfo, type Socket } from "node:net";
import { seededRandom } from "@edgetable/testing";

/** A server between a client and an engine. While it is on, it answers with something like what the engine answered. */
export interface OddServer {
  readonly endpoint: string;
  /** Mutates answers from now on: the same seed, the same mutations. Undefined lets them pass. */
  mutate(seed: number | undefined): void;
  close(): void;
}

type Random = () => number;
type Json = unknown;

const oneOf = <T>(random: Random, some: readonly T[]): T => some[Math.floor(random() * some.length)] as T;

const deep = (levels: number): Json => JSON.parse(`${'{"L":['.repeat(levels)}${"]}".repeat(levels)}`);
const oddValues: readonly Json[] = [
  null,
  5,
  -1,
  1e300,
  "",
  "x",
  true,
  [],
  {},
  [null],
  { S: 5 },
  { X: "x" },
  { N: "x" },
  { S: "a", N: "1" },
];

/** The same with one value, name or member somewhere in it changed. */
const mutateJson = (random: Random, value: Json): Json => {
  if (typeof value !== "object" || value === null || random() < 0.2)
    return random() < 0.05 ? deep(oneOf(random, [40, 3000])) : oneOf(random, oddValues);
  if (Array.isArray(value)) {
    const at = Math.floor(random() * value.length);
    return random() < 0.2
      ? [...value, oneOf(random, oddValues)]
      : value.map((one, index) => (index === at ? mutateJson(random, one) : one));
  }
  const entries = Object.entries(value);
  const at = Math.floor(random() * entries.length);
  const kind = random();
  return Object.fromEntries(
    entries.flatMap(([name, member], index) => {
      if (index !== at) return [[name, member]];
      if (kind < 0.15) return [];
      return [kind < 0.3 ? [oneOf(random, ["Other", "S", "__proto__", "constructor", ""]), member] : [name, mutateJson(random, member)]];
    }),
  );
};

const pages = [
  "",
  "null",
  "5",
  "[]",
  "{}",
  '"ok"',
  "true",
  '{"status":"ok"}',
  "<html>Log in</html>",
  '{"__type":5}',
  '{"__type":"x#ResourceNotFoundException"}',
  "[".repeat(100_000),
];

const mutateText = (random: Random, body: string): string => {
  const at = Math.floor(random() * (body.length + 1));
  const put = oneOf(random, ["", '"', "{", "}", "[", ",", ":", "\\", "\u0000", "\uFFFD", "é", " "]);
  return random() < 0.5 ? body.slice(0, at) : body.slice(0, at) + put + body.slice(at + 1);
};

const mutateBody = (random: Random, body: string): string => {
  const kind = random();
  if (kind < 0.6) return JSON.stringify(mutateJson(random, JSON.parse(body)));
  return kind < 0.8 ? mutateText(random, body) : oneOf(random, pages);
};

const statuses = [
  "200 OK",
  "200 OK",
  "200 OK",
  "200 OK",
  "204 No Content",
  "302 Found",
  "400 Bad Request",
  "403 Forbidden",
  "500 Oops",
  "502 Bad Gateway",
  "999 x",
  "abc",
];
const headers = [
  "content-type: application/x-amz-json-1.0\r\n",
  "content-type: application/x-amz-json-1.0\r\n",
  "content-type: text/html; charset=utf-16\r\n",
  "x-amzn-requestid: R1\r\n",
  "x-amz-crc32: 5\r\n",
  "content-encoding: gzip\r\n",
  "x-amzn-errortype: ThrottlingException:http://x\r\n",
  "",
];

/** Writes an answer, whole or not; says whether the connection goes on. */
const answer = (random: Random, socket: Socket, body: string): void => {
  const bytes = Buffer.from(mutateBody(random, body), random() < 0.03 ? "latin1" : "utf8");
  const length = random() < 0.05 ? oneOf(random, [0, bytes.length + 10, Math.max(0, bytes.length - 3), -1]) : bytes.length;
  const early = random() < 0.05 ? "HTTP/1.1 100 Continue\r\n\r\n" : "";
  const head = `${early}HTTP/1.1 ${oneOf(random, statuses)}\r\n${oneOf(random, headers)}content-length: ${length}\r\n\r\n`;
  socket.write(Buffer.concat([Buffer.from(head), bytes]));
  if (length !== bytes.length || random() < 0.05) socket.end();
};

const passOn = async (endpoint: string, head: string, body: string): Promise<Response> =>
  fetch(endpoint, {
    method: "POST",
    body,
    headers: Object.fromEntries(
      ["content-type", "x-amz-target", "x-amz-date", "authorization"].map((name) => [
        name,
        new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? "",
      ]),
    ),
  });

/** Opens a server that passes requests on to an engine, and mutates four answers of five while it is told to. */
export const openOddServer = async (engine: string): Promise<OddServer> => {
  let random: Random | undefined;
  const sockets = new Set<Socket>();
  const serve = async (socket: Socket, head: string, body: string): Promise<void> => {
    const given = await passOn(engine, head, body);
    const text = await given.text();
    if (random && random() < 0.8) return answer(random, socket, text);
    const sign = `content-type: application/x-amz-json-1.0\r\nx-amzn-requestid: R\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`;
    socket.write(`HTTP/1.1 ${given.status} ${given.statusText}\r\n${sign}${text}`);
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      text += chunk.toString("utf8");
      const blank = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (blank < 0 || Buffer.byteLength(text.slice(blank + 4)) < length) return;
      const [head, body] = [text.slice(0, blank), text.slice(blank + 4)];
      text = "";
      serve(socket, head, body).catch(() => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mutate: (seed) => (random = seed === undefined ? undefined : seededRandom(seed)),
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
