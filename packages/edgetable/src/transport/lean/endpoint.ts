import { EdgetableError } from "../../errors/edgetable-error.ts";

/** Where requests go. */
export interface Endpoint {
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  /** As in the `Host` header. */
  readonly host: string;
  readonly tls: boolean;
  readonly loopback: boolean;
}

// Partitions and their suffixes: partitions.json of the AWS SDK. The longer prefix comes first.
const partitionSuffixes: readonly (readonly [prefix: string, suffix: string])[] = [
  ["cn-", "amazonaws.com.cn"],
  ["us-isob-", "sc2s.sgov.gov"],
  ["us-isof-", "csp.hci.ic.gov"],
  ["us-iso-", "c2s.ic.gov"],
  ["eu-isoe-", "cloud.adc-e.uk"],
  ["eusc-", "amazonaws.eu"],
];

/** The public endpoint of DynamoDB in a region, in whichever partition it lies. */
export const serviceEndpoint = (region: string): string => {
  const suffix = partitionSuffixes.find(([prefix]) => region.startsWith(prefix))?.[1] ?? "amazonaws.com";
  return `https://dynamodb.${region}.${suffix}`;
};

// A URL has IPv4 addresses in their one full form, and no name that could be taken for one.
const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "::1" || /^127(?:\.\d+){3}$/.test(hostname);

const refuse = (message: string, value: string): never => {
  throw new EdgetableError("plan.invalidOption", message, { details: { option: "endpoint", value } });
};

const parseUrl = (text: string): URL => {
  if (!URL.canParse(text)) return refuse(`endpoint "${text}" is not a URL such as "http://127.0.0.1:8000".`, text);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    refuse(`endpoint "${text}" is neither http nor https: begin it with http:// or https://.`, text);
  if (url.port === "0") refuse(`endpoint "${text}" has port 0, where nothing listens: give the port that the server says.`, text);
  // Not repeated in the message: the text may hold a password.
  if (url.username !== "" || url.password !== "")
    refuse("endpoint holds a user name or password: DynamoDB takes signed requests only; remove them.", url.host);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    refuse(`endpoint "${text}" has a path, query or fragment: give scheme, host and port only.`, text);
  return url;
};

/**
 * Reads the endpoint option.
 *
 * @throws {plan.invalidOption} when it is no plain http or https URL, or is http to another machine
 * without `allowInsecure`.
 */
export const parseEndpoint = (text: string, allowInsecure: boolean): Endpoint => {
  const url = parseUrl(text);
  const hostname = url.hostname.replaceAll(/^\[|\]$/g, "");
  const tls = url.protocol === "https:";
  const loopback = isLoopback(hostname);
  if (!tls && !loopback && !allowInsecure) {
    refuse(
      `endpoint "${text}" would send data unencrypted to another machine: use https, or \`allowInsecure: true\` where the network itself is private.`,
      text,
    );
  }
  return { hostname, port: Number(url.port) || (tls ? 443 : 80), host: url.host, tls, loopback };
};
