import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { EdgetableError } from "edgetable";
import { failureOf } from "../failure.ts";
import { fromJson, toExactJson } from "../output/json.ts";

/** One request to the API, after every check. */
export interface ApiRequest {
  /** Such as `GET /api/items`. */
  readonly route: string;
  readonly query: URLSearchParams;
  /** The parsed body of a POST. */
  readonly body: unknown;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
}

/** Answers a request with what becomes its JSON, or with undefined if there is no such route. */
export type Api = (request: ApiRequest) => Promise<unknown>;

export interface StudioServer {
  /** Such as `http://127.0.0.1:5600`. */
  readonly origin: string;
  /** The link with the token. Whoever has it can read the table until the server stops. */
  readonly link: string;
  /** A link that works once, to pass to another process: arguments of processes are visible to other accounts. */
  oneTimeLink(): string;
  /** Ends requests under way and closes every connection. */
  close(): Promise<void>;
}

export interface StudioServerOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** The folder of the built app. */
  readonly folder: string;
  readonly api: Api;
}

/** No inline script or style, no other host, no frame: a stored value that looks like markup stays text. */
const CONTENT_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
};

/** The address of a view: a word, so that a redirect to it never leaves this server. */
const VIEW = /^\/[a-z]*$/;
/**
 * Bytes of a request's body. A row of 400 KB comes with what it was, and a character of it may take six bytes of JSON; a CSV file is
 * larger, and a call smaller.
 */
const maxBody = (path: string): number =>
  (path === "/api/rows/import" ? 32 : /^\/api\/(patterns|scratch)\//.test(path) ? 0.0625 : 6) * 1024 * 1024;

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

interface StaticFile {
  readonly type: string;
  readonly body: Buffer;
  readonly packed: Buffer;
}

const readApp = (folder: string): ReadonlyMap<string, StaticFile> => {
  const files = new Map<string, StaticFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = contentTypes[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const body = readFileSync(path);
    files.set(`/${relative(folder, path).split(sep).join("/")}`, { type, body, packed: gzipSync(body) });
  }
  return files;
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Compares two secrets in a time that does not depend on where they differ. */
const isSame = (given: string | null | undefined, secret: string): boolean =>
  typeof given === "string" && timingSafeEqual(digest(given), digest(secret));

const cookieOf = ({ headers }: IncomingMessage, name: string): string | undefined =>
  headers.cookie
    ?.split(";")
    .map((one) => one.trim().split("="))
    .find(([key]) => key === name)?.[1];

class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const readBody = async (request: IncomingMessage, most: number): Promise<unknown> => {
  if (!/^application\/json\b/.test(request.headers["content-type"] ?? ""))
    throw new Refused(415, "studio.body", "The body must be application/json.");
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > most) throw new Refused(413, "studio.body", `The body must be smaller than ${most / 1024} KB.`);
    pieces.push(piece);
  }
  try {
    return fromJson(Buffer.concat(pieces).toString("utf8"));
  } catch {
    throw new Refused(400, "studio.body", "The body is not valid JSON.");
  }
};

const statusOf = (code: string): number => {
  const [family] = code.split(".");
  if (family === "invariant") return 500;
  return family === "execute" || family === "table" ? 502 : 400;
};

/** Requests that no other web page, host name or account can make. Each refusal says what to do. */
const checkCaller = (request: IncomingMessage, hosts: readonly string[]): void => {
  const { host, origin, "sec-fetch-site": site } = request.headers;
  if (host === undefined || !hosts.includes(host))
    throw new Refused(421, "studio.host", "The studio answers only to its own address: open the link that edgetable studio printed.");
  if (origin !== undefined && origin !== `http://${host}`)
    throw new Refused(403, "studio.origin", "Another web page sent this request; only the studio's own page may.");
  if (origin === undefined && request.method === "POST") throw new Refused(403, "studio.origin", "A POST must name its Origin.");
  if (site !== undefined && site !== "same-origin" && site !== "none")
    throw new Refused(403, "studio.origin", "Another web page sent this request; only the studio's own page may.");
};

const send = (response: ServerResponse, status: number, body: string | Buffer, headers: Readonly<Record<string, string>>): void => {
  response.writeHead(status, { ...COMMON_HEADERS, "content-length": String(Buffer.byteLength(body)), ...headers });
  response.end(response.req.method === "HEAD" ? undefined : body);
};

const sendJson = (response: ServerResponse, status: number, value: unknown): void => {
  const text = toExactJson(value);
  const headers = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
  const packs = text.length > 2048 && /\bgzip\b/.test(response.req.headers["accept-encoding"]?.toString() ?? "");
  if (!packs) return send(response, status, text, headers);
  send(response, status, gzipSync(text, { level: 1 }), { ...headers, "content-encoding": "gzip" });
};

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const sendRefusal = (response: ServerResponse, { status, code, message }: Refused): void => {
  // A body that was refused is not read to its end.
  response.shouldKeepAlive = false;
  const { url = "", headers } = response.req;
  if (url.startsWith("/api/")) return sendJson(response, status, { error: { code, message } });
  const title = "edgetable studio";
  const asHtml = headers.accept?.includes("text/html") ?? false;
  const body = asHtml
    ? `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${escaped(message)}</p></html>`
    : `${message}\n`;
  send(response, status, body, { "content-type": `text/${asHtml ? "html" : "plain"}; charset=utf-8`, "cache-control": "no-store" });
};

const sendFile = (response: ServerResponse, { type, body, packed }: StaticFile, isAsset: boolean): void => {
  const headers = { "content-type": type, "cache-control": isAsset ? "private, max-age=31536000, immutable" : "no-store" };
  if (!/\bgzip\b/.test(response.req.headers["accept-encoding"]?.toString() ?? "")) return send(response, 200, body, headers);
  send(response, 200, packed, { ...headers, "content-encoding": "gzip" });
};

/** Answers an API request; failures of the library become errors with their code. */
const answerApi = async (response: ServerResponse, api: Api, request: ApiRequest): Promise<void> => {
  let value: unknown;
  try {
    value = await api(request);
  } catch (error) {
    const { code, message, docs } = failureOf(error);
    return sendJson(response, statusOf(code), { error: { code, message, docs } });
  }
  if (value === undefined) return sendJson(response, 404, { error: { code: "studio.route", message: `There is no ${request.route}.` } });
  sendJson(response, 200, value);
};

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });

/** Who may ask: the secrets of one start. */
interface Access {
  readonly token: string;
  oneTimeToken(): string;
  /** Sets the cookie for a valid token, and redirects to the address without it. @throws {Refused} for another token */
  signIn(response: ServerResponse, url: URL): void;
  isSignedIn(request: IncomingMessage): boolean;
}

/** @param portOf the port, which is part of the cookie's name: cookies are shared by every port of an address */
const createAccess = (portOf: () => number): Access => {
  const [token, session] = [randomBytes(24).toString("base64url"), randomBytes(24).toString("base64url")];
  const tickets = new Set<string>();
  const cookie = (): string => `edgetable-studio-${portOf()}`;
  return {
    token,
    oneTimeToken: () => {
      const ticket = randomBytes(24).toString("base64url");
      tickets.add(ticket);
      return ticket;
    },
    signIn: (response, url) => {
      const given = url.searchParams.get("token");
      const isTicket = given !== null && tickets.delete(given);
      if (!isTicket && !isSame(given, token))
        throw new Refused(
          401,
          "studio.token",
          "This link is not valid. Open the link that edgetable studio printed; each start has its own.",
        );
      url.searchParams.delete("token");
      response.writeHead(303, {
        ...COMMON_HEADERS,
        location: VIEW.test(url.pathname) ? `${url.pathname}${url.search}` : "/",
        "set-cookie": `${cookie()}=${session}; Path=/; HttpOnly; SameSite=Strict`,
        "cache-control": "no-store",
      });
      response.end();
    },
    isSignedIn: (request) => isSame(cookieOf(request, cookie()), session),
  };
};

/**
 * Serves the studio on 127.0.0.1. Every request must name this server as its Host, come from its own page, and have the cookie
 * that the link with the token sets. The token then leaves the address, and nothing writes it to a log.
 *
 * @throws {cli.usage} if the port is in use or may not be used
 */
export const startStudioServer = async ({ port: wanted, folder, api }: StudioServerOptions): Promise<StudioServer> => {
  const files = readApp(folder);
  const page = files.get("/index.html");
  if (!page) throw new EdgetableError("cli.usage", `${folder} does not contain the built web app. Install @edgetable/studio again.`);
  const portOf = (): number => (server.address() as AddressInfo | null)?.port ?? 0;
  const access = createAccess(portOf);
  const asking = new Set<AbortController>();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    checkCaller(request, [`127.0.0.1:${portOf()}`, `localhost:${portOf()}`]);
    const { method = "", url: target = "/" } = request;
    const url = new URL(target.startsWith("/") ? `http://studio${target.replace(/^\/+/, "/")}` : "http://studio/");
    if (method !== "GET" && method !== "HEAD" && method !== "POST")
      throw new Refused(405, "studio.method", "Only GET, HEAD and POST are answered.");
    const isApi = url.pathname.startsWith("/api/");
    if (!isApi && url.searchParams.has("token")) return access.signIn(response, url);
    if (!access.isSignedIn(request))
      throw new Refused(401, "studio.token", "Open the link that edgetable studio printed: it contains the token.");
    if (isApi) {
      const gone = new AbortController();
      asking.add(gone);
      response.once("close", () => {
        asking.delete(gone);
        gone.abort();
      });
      const body = method === "POST" ? await readBody(request, maxBody(url.pathname)) : undefined;
      return answerApi(response, api, { route: `${method} ${url.pathname}`, query: url.searchParams, body, signal: gone.signal });
    }
    if (method === "POST") throw new Refused(405, "studio.method", "Only the API takes a POST.");
    const file = files.get(url.pathname);
    if (file && url.pathname !== "/index.html") return sendFile(response, file, url.pathname.startsWith("/assets/"));
    if (!VIEW.test(url.pathname)) throw new Refused(404, "studio.route", "There is no such page.");
    sendFile(response, page, false);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) return response.destroy();
      if (error instanceof Refused) return sendRefusal(response, error);
      sendRefusal(response, new Refused(500, "invariant", failureOf(error).message));
    });
  });
  server.requestTimeout = 30_000;
  try {
    await listen(server, wanted);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "EADDRINUSE" ? "is in use" : code === "EACCES" ? "may not be used by this account" : `cannot be used (${code})`;
    throw new EdgetableError("cli.usage", `Port ${wanted} ${why}. Choose another with --port, or omit --port.`, { cause: error });
  }
  const origin = `http://127.0.0.1:${portOf()}`;
  return {
    origin,
    link: `${origin}/?token=${access.token}`,
    oneTimeLink: () => `${origin}/?token=${access.oneTimeToken()}`,
    close: async () => {
      for (const gone of asking) gone.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
};
