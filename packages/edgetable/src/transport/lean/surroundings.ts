import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import { isLoopback } from "../transport.ts";

/** Settings of one section; a nested one as `dynamodb.endpoint_url`. */
export type Settings = ReadonlyMap<string, string>;

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The settings of the sections with one of these names, in the text of a shared config or credentials file; undefined if
 * there is no such section. As in the AWS SDK, a comment starts after white space, and the later of two values counts.
 */
export const settingsIn = (text: string, ...names: readonly string[]): Settings | undefined => {
  let found: Map<string, string> | undefined;
  let inside = false;
  let parent = "";
  for (const raw of text.split(/\r?\n/)) {
    const line = (raw.split(/(?:^|\s)[#;]/)[0] ?? "").trimEnd();
    const section = /^\[([^\]]*)\]$/.exec(line.trim())?.[1];
    if (section !== undefined) {
      // [profile "a name"] is the same as [profile a name].
      const name = section
        .trim()
        .replaceAll(/\s+/g, " ")
        .replace(/^(\S+) (["'])(.*)\2$/, "$1 $3");
      inside = names.includes(name);
      if (inside) found ??= new Map();
      parent = "";
    }
    const [, indent, name = "", value = ""] = (inside && /^(\s*)([^\s=[][^=]*?)\s*=\s*(.*)$/.exec(line)) || [];
    if (indent === "") parent = value === "" ? `${name}.` : "";
    if (value !== "") found?.set(indent === "" ? name : `${parent}${name}`, value);
  }
  return found;
};

/** One profile of the shared files. Each file is read with the first setting that needs it. */
interface SharedConfig {
  readonly profile: string;
  setting(name: string): string | undefined;
  /** The settings of `[services name]`. */
  services(name: string): Settings | undefined;
}

const readShared = (path: string | undefined, usual: string): string => {
  try {
    return readFileSync(path || join(homedir(), ".aws", usual), "utf8");
  } catch {
    return "";
  }
};

/**
 * Opens the config file (AWS_CONFIG_FILE) and the credentials file (AWS_SHARED_CREDENTIALS_FILE), which is used for settings
 * that the first does not have.
 *
 * @param named the profile. @default AWS_PROFILE, else "default"
 */
const openSharedConfig = (named: string | undefined, environment: Environment = process.env): SharedConfig => {
  const profile = named || environment["AWS_PROFILE"] || "default";
  let config: string | undefined;
  let sections: readonly (Settings | undefined)[] | undefined;
  const configText = (): string => (config ??= readShared(environment["AWS_CONFIG_FILE"], "config"));
  return {
    profile,
    setting(name) {
      sections ??= [
        settingsIn(configText(), `profile ${profile}`, ...(profile === "default" ? ["default"] : [])),
        settingsIn(readShared(environment["AWS_SHARED_CREDENTIALS_FILE"], "credentials"), profile),
      ];
      return sections.find((section) => section?.has(name))?.get(name);
    },
    services: (name) => settingsIn(configText(), `services ${name}`),
  };
};

/** Where a region is looked up first. */
export interface RegionSource {
  readonly region?: string | undefined;
  /** Profile of the shared files. @default AWS_PROFILE, else "default" */
  readonly profile?: string | undefined;
}

/**
 * The region: the option, AWS_REGION, AWS_DEFAULT_REGION, the profile's in the shared files, or the fallback.
 *
 * @throws {plan.invalidOption} if there is none, or it is not the name of a region
 */
export const resolveRegion = (source: RegionSource, fallback?: string): string => {
  const config = openSharedConfig(source.profile);
  const region = source.region || process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"] || config.setting("region") || fallback;
  if (region === undefined) {
    throw new EdgetableError(
      "plan.invalidOption",
      `No AWS region: give \`region\`, set AWS_REGION, or add a region to profile "${config.profile}" in ~/.aws/config.`,
      { details: { option: "region", profile: config.profile } },
    );
  }
  // The region becomes part of the host name.
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/i.test(region)) {
    throw new EdgetableError("plan.invalidOption", `region "${region}" is not the name of an AWS region, such as "eu-central-1".`, {
      details: { option: "region", value: region },
    });
  }
  return region;
};

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

/** The public endpoint of DynamoDB in a region of any partition. */
export const serviceEndpoint = (region: string): string => {
  const suffix = partitionSuffixes.find(([prefix]) => region.startsWith(prefix))?.[1] ?? "amazonaws.com";
  return `https://dynamodb.${region}.${suffix}`;
};

/** An endpoint's URL, and where it was found. */
export interface FoundEndpoint {
  readonly url: string;
  /** The place as messages name it, such as `AWS_ENDPOINT_URL`. */
  readonly from: string;
}

const invalidEndpoint = (message: string, value: string): EdgetableError =>
  new EdgetableError("plan.invalidOption", message, { details: { option: "endpoint", value } });

/**
 * The endpoint that `connect()` uses if no option names one, in the order of the AWS SDKs ("Service-specific endpoints",
 * AWS SDKs and Tools Reference Guide): AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, the profile's services section, the
 * profile. Undefined, which means DynamoDB in the region, if none is configured or if
 * AWS_IGNORE_CONFIGURED_ENDPOINT_URLS or the profile's setting of that name is true.
 *
 * @param profile of the shared files. @default AWS_PROFILE, else "default"
 * @param environment the variables. @default process.env
 * @param service whose own settings come first: `DYNAMODB_STREAMS` has AWS_ENDPOINT_URL_DYNAMODB_STREAMS. @default DYNAMODB
 * @throws {plan.invalidOption} if that setting is neither true nor false, or the services section is missing
 */
export const configuredEndpoint = (
  profile?: string,
  environment: Environment = process.env,
  service: "DYNAMODB" | "DYNAMODB_STREAMS" = "DYNAMODB",
): FoundEndpoint | undefined => {
  const config = openSharedConfig(profile, environment);
  const variable = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";
  const setting = "ignore_configured_endpoint_urls";
  const from = environment[variable] ? variable : setting;
  const ignores = environment[variable] || config.setting(setting);
  if (ignores && !/^(?:true|false)$/i.test(ignores)) throw invalidEndpoint(`${from} is "${ignores}": set it to true or false.`, ignores);
  if (ignores?.toLowerCase() === "true") return undefined;

  for (const name of [`AWS_ENDPOINT_URL_${service}`, "AWS_ENDPOINT_URL"]) {
    const url = environment[name];
    if (url) return { url, from: name };
  }
  const services = config.setting("services");
  if (services !== undefined) {
    const section = config.services(services);
    if (section === undefined)
      throw invalidEndpoint(
        `Profile "${config.profile}" names services "${services}", but the config file has no [services ${services}].`,
        services,
      );
    const name = service.toLowerCase();
    const url = section.get(`${name}.endpoint_url`);
    if (url !== undefined) return { url, from: `endpoint_url of ${name} in [services ${services}]` };
  }
  const url = config.setting("endpoint_url");
  return url === undefined ? undefined : { url, from: `endpoint_url of profile "${config.profile}"` };
};

/**
 * Reads an endpoint's URL.
 *
 * @throws {plan.invalidOption} if it is not a plain http or https URL, or is http to another machine without
 * `allowInsecure`
 */
export const parseEndpoint = (given: string | FoundEndpoint, allowInsecure: boolean): Endpoint => {
  const { url: text, from } = typeof given === "string" ? { url: given, from: "endpoint" } : given;
  // Before an @ there may be a password, also where the text is no URL of http.
  const shown = text.replace(/^.*@/s, "…@");
  const invalid = (message: string): EdgetableError => invalidEndpoint(`${from} ${message}`, shown);
  if (!URL.canParse(text)) throw invalid(`"${shown}" is not a URL such as "http://127.0.0.1:8000".`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw invalid(`"${shown}" is neither http nor https: begin it with http:// or https://.`);
  if (url.port === "0") throw invalid(`"${shown}" has port 0, where nothing can listen: use the port that the server prints.`);
  if (url.username !== "" || url.password !== "")
    throw invalid("contains a user name or password: DynamoDB takes signed requests only; remove them.");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw invalid(`"${shown}" has a path, query or fragment: give scheme, host and port only.`);
  const hostname = url.hostname.replaceAll(/^\[|\]$/g, "");
  const tls = url.protocol === "https:";
  const loopback = isLoopback(hostname);
  if (!tls && !loopback && !allowInsecure)
    throw invalid(`"${shown}" would send data unencrypted to another machine: use https, or \`allowInsecure: true\` in a private network.`);
  return { hostname, port: Number(url.port) || (tls ? 443 : 80), host: url.host, tls, loopback };
};
