import { EdgetableError } from "../../errors/edgetable-error.ts";
import { isLoopback } from "../loopback.ts";
import { type Environment, openSharedConfig, type SharedConfig } from "./shared-config.ts";

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

/** An endpoint's URL, and where it was found. */
export interface FoundEndpoint {
  readonly url: string;
  /** What a message names, such as `AWS_ENDPOINT_URL`. */
  readonly from: string;
}

const invalid = (message: string, details: Readonly<Record<string, unknown>>): EdgetableError =>
  new EdgetableError("plan.invalidOption", message, { details: { option: "endpoint", ...details } });

const isTrue = (text: string | undefined, from: string): boolean | undefined => {
  if (text === undefined || text === "") return undefined;
  if (!/^(?:true|false)$/i.test(text)) throw invalid(`${from} is "${text}": give true or false.`, { value: text });
  return text.toLowerCase() === "true";
};

/** The profile's endpoint: of its services section, else its own. */
const profileEndpoint = (config: SharedConfig): FoundEndpoint | undefined => {
  const services = config.setting("services");
  const section = services === undefined ? undefined : config.services(services);
  if (services !== undefined && section === undefined)
    throw invalid(`Profile "${config.profile}" names services "${services}", and the config file has no [services ${services}].`, {
      value: services,
    });
  const own = section?.get("dynamodb.endpoint_url");
  if (own !== undefined) return { url: own, from: `endpoint_url of dynamodb in [services ${services}]` };
  const url = config.setting("endpoint_url");
  return url === undefined ? undefined : { url, from: `endpoint_url of profile "${config.profile}"` };
};

/**
 * The endpoint that `connect()` uses where no option names one, in the order of the AWS SDKs ("Service-specific endpoints",
 * AWS SDKs and Tools Reference Guide): AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, the profile's services section, the
 * profile. Undefined, which means DynamoDB in the region, where none is configured, or
 * AWS_IGNORE_CONFIGURED_ENDPOINT_URLS or the profile's setting of that name is true.
 *
 * @param profile of the shared files. @default AWS_PROFILE, else "default"
 * @param environment the variables. @default process.env
 * @throws {plan.invalidOption} when that setting is neither true nor false, or the services section is missing.
 */
export const configuredEndpoint = (profile?: string, environment: Environment = process.env): FoundEndpoint | undefined => {
  const config = openSharedConfig(profile, environment);
  const name = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"].find((one) => environment[one]);
  const ignoring = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";
  const setting = ignoring.slice("AWS_".length).toLowerCase();
  if (isTrue(environment[ignoring], ignoring) ?? isTrue(config.setting(setting), setting)) return undefined;
  return name === undefined ? profileEndpoint(config) : { url: environment[name] as string, from: name };
};

const parseUrl = ({ url: text, from }: FoundEndpoint): URL => {
  const refuse = (message: string, value = text): EdgetableError => invalid(`${from} ${message}`, { value });
  if (!URL.canParse(text)) throw refuse(`"${text}" is not a URL such as "http://127.0.0.1:8000".`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refuse(`"${text}" is neither http nor https: begin it with http:// or https://.`);
  if (url.port === "0") throw refuse(`"${text}" has port 0, where nothing listens: give the port that the server says.`);
  // Not repeated in the message: the text may hold a password.
  if (url.username !== "" || url.password !== "")
    throw refuse("holds a user name or password: DynamoDB takes signed requests only; remove them.", url.host);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw refuse(`"${text}" has a path, query or fragment: give scheme, host and port only.`);
  return url;
};

/**
 * Reads an endpoint's URL.
 *
 * @throws {plan.invalidOption} when it is no plain http or https URL, or is http to another machine
 * without `allowInsecure`.
 */
export const parseEndpoint = (given: string | FoundEndpoint, allowInsecure: boolean): Endpoint => {
  const found = typeof given === "string" ? { url: given, from: "endpoint" } : given;
  const url = parseUrl(found);
  const hostname = url.hostname.replaceAll(/^\[|\]$/g, "");
  const tls = url.protocol === "https:";
  const loopback = isLoopback(hostname);
  if (!tls && !loopback && !allowInsecure)
    throw invalid(
      `${found.from} "${found.url}" would send data unencrypted to another machine: use https, or \`allowInsecure: true\` where the network itself is private.`,
      { value: found.url },
    );
  return { hostname, port: Number(url.port) || (tls ? 443 : 80), host: url.host, tls, loopback };
};
