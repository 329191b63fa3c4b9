import type { IncomingMessage } from "node:http";

/**
 * Who may talk to the engine. A web page that is open in the developer's browser can send requests to every port of
 * 127.0.0.1, also under a name of its own that it lets point there (DNS rebinding). Programs send no Origin, and a Host
 * that names this machine.
 */
export interface Visitors {
  /** Origins of web pages that may read and write, such as `http://localhost:5173`. */
  readonly origins: readonly string[];
  /** Names in the Host header that are allowed beside those of loopback, such as `host.docker.internal`. */
  readonly hosts: readonly string[];
}

const loopbackName = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

const nameIn = (header: string): string => header.replace(/:\d*$/, "");

/** Why a request is refused; undefined where it may pass. */
export const refusalOf = ({ headers }: Pick<IncomingMessage, "headers">, { origins, hosts }: Visitors): string | undefined => {
  const name = nameIn(headers.host ?? "");
  if (!loopbackName.test(name) && !hosts.includes(name))
    return `The Host header names ${JSON.stringify(name)}, which is not this machine: a web page may have let its own name point here. Allow the name with allowHosts (edgetable dev --allow-host ${name}), or connect to 127.0.0.1.`;
  const { origin } = headers;
  if (origin !== undefined && !origins.includes(origin))
    return `Web pages of ${JSON.stringify(origin)} may not use this engine. Allow the origin with allowOrigins (edgetable dev --allow-origin ${origin}).`;
  return undefined;
};

/** What lets a page of an allowed origin read an answer. */
export const corsHeaders = ({ headers }: Pick<IncomingMessage, "headers">): readonly string[] =>
  headers.origin === undefined
    ? []
    : ["access-control-allow-origin", headers.origin, "access-control-expose-headers", "x-amzn-requestid, x-amz-crc32", "vary", "origin"];

/** What the browser asks before the request of an allowed origin. */
export const preflightHeaders = ({ headers }: Pick<IncomingMessage, "headers">): readonly string[] => [
  "access-control-allow-methods",
  "POST",
  "access-control-allow-headers",
  headers["access-control-request-headers"] ?? "*",
  "access-control-allow-private-network",
  "true",
  "access-control-max-age",
  "600",
];
