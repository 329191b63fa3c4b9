import { EdgetableError } from "../../errors/edgetable-error.ts";
import { checkOptions, type OptionChecks } from "../../util/check-options.ts";
import { deferTransport } from "../defer-transport.ts";
import { TIMEOUTS, type Transport } from "../transport.ts";
import { cacheCredentials } from "./credentials.ts";
import type { CredentialProvider, Credentials } from "./credentials.ts";
import { defaultCredentials } from "./default-credentials.ts";
import { configuredEndpoint, parseEndpoint, serviceEndpoint } from "./endpoint.ts";
import type { LeanSettings } from "./open-transport.ts";
import { resolveRegion } from "./region.ts";

/** How the lean transport reaches DynamoDB. */
export interface LeanTransportOptions {
  /**
   * URL text without path. @default AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, `endpoint_url` of the profile's services
   * section or of the profile, unless AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true; else DynamoDB in the region
   */
  readonly endpoint?: string | undefined;
  /** @default AWS_REGION, AWS_DEFAULT_REGION, the shared files, or "us-east-1" on loopback */
  readonly region?: string | undefined;
  /** Profile of the shared config files, for endpoint, region and credentials. @default AWS_PROFILE */
  readonly profile?: string | undefined;
  /** Fixed credentials or a function that gives fresh ones. @default defaultCredentials(); a dummy pair on loopback */
  readonly credentials?: Credentials | CredentialProvider | undefined;
  /** Most sockets at one time, 1 to 10,000; further requests wait. @default 64 */
  readonly maxSockets?: number | undefined;
  /** Milliseconds until a socket must be connected (and TLS agreed), 1 to 600,000. @default 3000 */
  readonly connectTimeout?: number | undefined;
  /** Milliseconds for one attempt as a whole, 1 to 600,000, unless `send` is given another. @default 10000 */
  readonly requestTimeout?: number | undefined;
  /** Allows plain http to a machine other than this one. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** PEM text of the certificate authorities to trust in place of the usual ones. */
  readonly ca?: string | undefined;
  /** The machine's clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

// DynamoDB Local accepts alphanumeric key ids only.
const dummyCredentials: Credentials = { accessKeyId: "local", secretAccessKey: "local" };

// Node takes what is none for no certificates, and an empty text for the usual ones. The message leaves out what may be a key.
const certificates = (ca: unknown): void => {
  if (typeof ca === "string" && ca.includes("CERTIFICATE-----")) return;
  throw new EdgetableError("plan.invalidOption", "ca holds no certificate: give PEM text, such as what a .pem file holds, not its path.", {
    details: { option: "ca" },
  });
};

const kinds: OptionChecks<LeanTransportOptions> = {
  endpoint: "string",
  region: "string",
  profile: "string",
  credentials: undefined,
  maxSockets: [1, 10_000],
  connectTimeout: TIMEOUTS,
  requestTimeout: TIMEOUTS,
  allowInsecure: "boolean",
  ca: certificates,
  now: "function",
};

/**
 * A transport of our own: keep-alive HTTP/1.1 over a bare socket, Signature Version 4 and plain JSON.
 * Nothing is sent until the first request; sockets do not keep the process alive.
 *
 * @throws {plan.invalidOption} when an option is unknown or out of range, no region is to be found, or
 * the endpoint (the option's, or the one that the surroundings configure) is plain http to another machine without
 * `allowInsecure`.
 * @throws {execute.credentials} when fixed credentials are incomplete.
 * @example
 * const transport = createLeanTransport({ endpoint: "http://127.0.0.1:8000" });
 */
export const createLeanTransport = (options: LeanTransportOptions = {}): Transport => {
  checkOptions(options, kinds);
  const found = options.endpoint ?? configuredEndpoint(options.profile);
  const given = found === undefined ? undefined : parseEndpoint(found, options.allowInsecure ?? false);
  const region = resolveRegion(options, given?.loopback ? "us-east-1" : undefined);
  const endpoint = given ?? parseEndpoint(serviceEndpoint(region), false);
  const settings: LeanSettings = {
    endpoint,
    region,
    credentials: cacheCredentials(
      options.credentials ?? (endpoint.loopback ? dummyCredentials : defaultCredentials({ profile: options.profile })),
    ),
    ca: options.ca,
    now: options.now ?? Date.now,
    maxSockets: options.maxSockets ?? 64,
    connectTimeout: options.connectTimeout ?? 3_000,
    requestTimeout: options.requestTimeout ?? 10_000,
  };
  // Who only defines, explains or checks a model needs neither sockets nor TLS.
  return deferTransport(async () => (await import("./open-transport.ts")).openTransport(settings));
};
