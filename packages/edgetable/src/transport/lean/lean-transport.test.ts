import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Credentials } from "./credentials.ts";
import { createLeanTransport, type LeanTransportOptions } from "./lean-transport.ts";

const put = { TableName: "Test", Item: { PK: { S: "a" } } } as const;
const get = { TableName: "Test", Key: { PK: { S: "a" } } } as const;

// However busy the machine is.
const PATIENCE = { timeout: 20_000, interval: 1 };

let server: (Server & { closeAllConnections(): void }) | undefined;
const connections: Socket[] = [];
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  connections.length = 0;
});

/** Lets the event loop look at its sockets: what one end of a loopback connection did, the other end knows by then. */
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const listen = async (made: ReturnType<typeof createServer>): Promise<number> => {
  server = made;
  made.on("connection", (socket: Socket) => connections.push(socket));
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return (made.address() as AddressInfo).port;
};
// DynamoDB's answers, and those of the local engines, say what they are.
const sign = (response: ServerResponse): void => void response.setHeader("content-type", "application/x-amz-json-1.0");
const open = async (handler: Handler, options: LeanTransportOptions = {}): Promise<ReturnType<typeof createLeanTransport>> => {
  const port = await listen(createServer((request, response) => (sign(response), handler(request, response))));
  return createLeanTransport({ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", ...options });
};
const fault =
  (name: string, headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    response.writeHead(400, headers).end(JSON.stringify({ __type: `x#${name}`, message: "because" }));

describe("sockets", () => {
  test("there are never more than maxSockets; the other requests wait in order", async () => {
    const order: string[] = [];
    const transport = await open(
      (request, response) =>
        request.on(
          "data",
          (body: Buffer) => (order.push((JSON.parse(body.toString()) as typeof put).TableName), setTimeout(() => response.end("{}"), 5)),
        ),
      { maxSockets: 2 },
    );
    const names = Array.from({ length: 10 }, (_, index) => `Table${index}`);
    await Promise.all(names.map((TableName) => transport.send("PutItem", { ...put, TableName })));
    expect(connections).toHaveLength(2);
    expect(order.toSorted()).toEqual(names);
    expect(order.slice(2).every((name, index) => Math.abs(names.indexOf(name) - index - 2) <= 1)).toBe(true);
  });

  test("a request that times out while it waits for a socket is not ambiguous, and never sent", async () => {
    let requests = 0;
    let answer = (): void => undefined;
    const transport = await open(
      (_, response) => {
        answer = () => void response.end("{}");
        if (++requests > 1) answer();
      },
      { maxSockets: 1 },
    );
    const first = transport.send("PutItem", put);
    await vi.waitFor(() => expect(requests).toBe(1), PATIENCE);
    await expect(transport.send("PutItem", put, { timeout: 30 })).rejects.toMatchObject({
      code: "execute.timeout",
      details: { ambiguous: false },
    });
    answer();
    await first;
    await transport.send("PutItem", put);
    expect(requests).toBe(2);
  });

  test("a socket that was idle for ten seconds is not used again", async () => {
    let now = Date.now();
    const transport = await open((_, response) => response.end("{}"), { now: () => now });
    await transport.send("PutItem", put);
    now += 9_000;
    await transport.send("PutItem", put);
    expect(connections).toHaveLength(1);
    now += 11_000;
    await transport.send("PutItem", put);
    expect(connections).toHaveLength(2);
  });

  test("a guard is asked when the first byte is about to go out, after waiting for a socket: what it throws sends nothing", async () => {
    let requests = 0;
    let mine = true;
    // The second request waits for the first one's socket, and gets it when it is no longer the caller's to send.
    const transport = await open((_, response) => (requests++, (mine = false), response.end("{}")), { maxSockets: 1 });
    const guard = (): void => {
      if (!mine) throw new Error("somebody else's by now");
    };
    const first = transport.send("PutItem", put, { guard });
    const second = transport.send("PutItem", put, { guard });
    await first;
    await expect(second).rejects.toThrow("somebody else's by now");
    mine = true;
    await transport.send("PutItem", put, { guard });
    expect(requests).toBe(2);
  });

  test("a clock that is set back does not make an old socket young", async () => {
    let now = Date.now();
    const transport = await open((_, response) => response.end("{}"), { now: () => now });
    await transport.send("PutItem", put);
    now -= 3_600_000;
    await transport.send("PutItem", put);
    expect(connections).toHaveLength(2);
  });

  test("a reused socket that the server closes is replaced for a read, and an ambiguous error for a write", async () => {
    let requests = 0;
    const transport = await open((request, response) => (++requests % 2 === 0 ? request.socket.destroy() : response.end("{}")));
    await transport.send("PutItem", put);
    expect(await transport.send("GetItem", get)).toEqual({});
    expect(requests).toBe(3);
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({ code: "execute.connection", details: { ambiguous: true } });
    expect(requests).toBe(4);
  });

  test("a read is sent again no more than once", async () => {
    let requests = 0;
    const transport = await open((request, response) => (++requests > 1 ? request.socket.destroy() : response.end("{}")));
    await transport.send("PutItem", put);
    await expect(transport.send("GetItem", get)).rejects.toMatchObject({ code: "execute.connection" });
    expect(requests).toBe(3);
  });

  test("an idle socket that the server closes is forgotten", async () => {
    const transport = await open((_, response) => response.end("{}"));
    await transport.send("PutItem", put);
    connections[0]?.destroy();
    await turns();
    await transport.send("PutItem", put);
    expect(connections).toHaveLength(2);
  });

  test("a socket on which part of an answer came that nobody asked for is not used again", async () => {
    const transport = await open((_, response) => response.end("{}"));
    await transport.send("PutItem", put);
    await new Promise<void>((written) => connections[0]?.write("HTTP/1.1 200 OK\r\n", () => written()));
    await turns();
    await transport.send("PutItem", put);
    expect(connections).toHaveLength(2);
  });

  test("closing lets what is under way finish", async () => {
    const transport = await open((_, response) => setTimeout(() => response.end("{}"), 50));
    const sent = transport.send("PutItem", put);
    await transport.close();
    expect(await sent).toEqual({});
    await vi.waitFor(() => expect(connections.every((socket) => socket.destroyed)).toBe(true), PATIENCE);
  });

  test("an answer before the request was read to its end is given, and the socket closed", async () => {
    const transport = await open((_, response) => response.writeHead(413).end("too large"));
    const large = { ...put, Item: { ...put.Item, text: { S: "x".repeat(20_000_000) } } };
    const error: unknown = await transport.send("PutItem", large).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: expect.stringMatching(/^execute\.(rejected|connection)$/) });
  });
});

describe("signing", () => {
  test("a wrong clock is corrected after the first refusal, which is worth another try", async () => {
    const dates: string[] = [];
    const now = Date.now() - 3_600_000;
    const handler: Handler = (request, response) => {
      dates.push(String(request.headers["x-amz-date"]));
      if (dates.length <= 2) fault("InvalidSignatureException")(request, response);
      else response.end("{}");
    };
    const transport = await open(handler, { now: () => now });
    const refused = { code: "execute.credentials", retryable: true, message: expect.stringContaining("clock") };
    await Promise.all([0, 1].map(() => expect(transport.send("PutItem", put)).rejects.toMatchObject(refused)));
    await transport.send("PutItem", put);
    const secondsOf = (stamp = ""): number => Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5")) / 1000;
    const corrected = secondsOf(dates[2]) - secondsOf(dates[0]);
    // A server's date has no fractions; and while the three were on their way, the server's clock went on.
    expect(corrected).toBeGreaterThanOrEqual(3_598);
    expect(corrected).toBeLessThan(3_600 + 60);
  });

  test("a bad signature under a right clock is not worth another try", async () => {
    const transport = await open(fault("InvalidSignatureException"));
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({ code: "execute.credentials", retryable: false });
  });

  test("expired credentials are asked for anew, and the refusal is worth another try", async () => {
    const keys: string[] = [];
    let given = 0;
    const handler: Handler = (request, response) => {
      keys.push(/Credential=(\w+)/.exec(String(request.headers.authorization))?.[1] ?? "");
      if (keys.length === 1) fault("ExpiredTokenException")(request, response);
      else response.end("{}");
    };
    const transport = await open(handler, {
      credentials: () => Promise.resolve({ accessKeyId: `KEY${++given}`, secretAccessKey: "s", sessionToken: `t${given}` }),
    });
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({ code: "execute.expiredCredentials", retryable: true });
    await transport.send("PutItem", put);
    await transport.send("PutItem", put);
    expect(keys).toEqual(["KEY1", "KEY2", "KEY2"]);
  });

  test("a timeout and an abort also end the wait for credentials", async () => {
    const transport = await open(() => undefined, { credentials: () => new Promise(() => undefined) });
    await expect(transport.send("PutItem", put, { timeout: 20 })).rejects.toMatchObject({
      code: "execute.timeout",
      details: { ambiguous: false },
    });
    await expect(transport.send("PutItem", put, { signal: AbortSignal.timeout(20) })).rejects.toMatchObject({
      code: "execute.aborted",
      details: { ambiguous: false },
    });
    expect(connections).toHaveLength(0);
  });

  test("a transport that is closed while a request waits for credentials rejects it at once, and does not send it", async () => {
    let give: ((credentials: Credentials) => void) | undefined;
    const transport = await open((_, response) => response.end("{}"), { credentials: () => new Promise((resolve) => (give = resolve)) });
    const closed = { code: "execute.connection", retryable: false, details: { ambiguous: false } };
    const rejected = expect(transport.send("PutItem", put)).rejects.toMatchObject(closed);
    await vi.waitFor(() => expect(give).toBeDefined(), PATIENCE);
    await transport.close();
    await rejected;
    give?.({ accessKeyId: "A", secretAccessKey: "s" });
    await expect(transport.send("PutItem", put)).rejects.toMatchObject(closed);
    expect(connections).toHaveLength(0);
  });
});

const makeCertificate = (): { key: string; cert: string } | undefined => {
  const folder = mkdtempSync(join(tmpdir(), "edgetable-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  try {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        key,
        "-out",
        cert,
        ...subject,
      ],
      { stdio: "ignore" },
    );
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } catch {
    return undefined;
  }
};
const certificate = makeCertificate();

// The certificate is made by the openssl command, where there is one.
describe.skipIf(certificate === undefined)("TLS", () => {
  const openSecure = async (options: LeanTransportOptions, host = "localhost"): Promise<ReturnType<typeof createLeanTransport>> => {
    const handler: Handler = (_, response) => (sign(response), response.setHeader("connection", "close").end("{}"));
    const port = await listen(createSecureServer({ ...certificate }, handler) as unknown as ReturnType<typeof createServer>);
    return createLeanTransport({ endpoint: `https://${host}:${port}`, region: "us-east-1", ...options });
  };

  test("a certificate that no authority signed is refused before anything is sent", async () => {
    const transport = await openSecure({});
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      details: { ambiguous: false },
      message: expect.stringContaining("self-signed"),
    });
  });

  test("a certificate for another host is refused", async () => {
    const transport = await openSecure({ ca: certificate?.cert }, "127.0.0.1");
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({
      code: "execute.connection",
      details: { ambiguous: false },
      message: expect.stringContaining("altnames"),
    });
  });

  test("a trusted one is accepted, HTTP/1.1 agreed, and the session used again by the next socket", async () => {
    const transport = await openSecure({ ca: certificate?.cert });
    const seen: unknown[] = [];
    server?.on("secureConnection", (socket: TLSSocket) => seen.push([socket.alpnProtocol, socket.isSessionReused()]));
    for (let requests = 0; requests < 3; requests++) expect(await transport.send("PutItem", put)).toEqual({});
    expect(seen).toEqual([
      ["http/1.1", false],
      ["http/1.1", true],
      ["http/1.1", true],
    ]);
  });

  test("a server that never agrees on TLS is execute.timeout, and not ambiguous", async () => {
    const silent = createTcpServer();
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const transport = createLeanTransport({ endpoint: `https://127.0.0.1:${port}`, region: "us-east-1", connectTimeout: 100 });
    await expect(transport.send("PutItem", put)).rejects.toMatchObject({
      code: "execute.timeout",
      retryable: true,
      details: { ambiguous: false },
    });
    silent.close();
  });
});
