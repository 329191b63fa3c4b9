import { EdgetableError } from "../../errors/edgetable-error.ts";
import { type OptionChecks, checkOptions } from "../../util/check-options.ts";
import { TIMEOUTS, type Transport, deferTransport } from "../transport.ts";
import { type CredentialProvider, type Credentials, checkCredentials, defaultCredentials } from "./credentials.ts";
import type { LeanSettings } from "./open-transport.ts";
import { configuredEndpoint, type FoundEndpoint, parseEndpoint, resolveRegion, serviceEndpoint } from "./surroundings.ts";

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
  /** Upper bound of open sockets, 1 to 10,000; further requests wait. @default 64 */
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

// Node takes a text without certificates as no certificates, and an empty text as the usual ones. The message does not quote
// the text, which may be a key.
const checkCertificates = (ca: unknown): void => {
  if (typeof ca === "string" && ca.includes("CERTIFICATE-----")) return;
  throw new EdgetableError(
    "plan.invalidOption",
    "ca contains no certificate: give PEM text, such as the content of a .pem file, not its path.",
    {
      details: { option: "ca" },
    },
  );
};

const checks: OptionChecks<LeanTransportOptions> = {
  endpoint: "string",
  region: "string",
  profile: "string",
  credentials: undefined,
  maxSockets: [1, 10_000],
  connectTimeout: TIMEOUTS,
  requestTimeout: TIMEOUTS,
  allowInsecure: "boolean",
  ca: checkCertificates,
  now: "function",
};

/** Which service a transport is for, and where it is found. */
interface Place {
  configured(profile: string | undefined): FoundEndpoint | undefined;
  inRegion(region: string): string;
}

/** Checked settings of a lean transport. */
export const settle = (options: LeanTransportOptions, place: Place): LeanSettings => {
  checkOptions(options, checks);
  const found = options.endpoint ?? place.configured(options.profile);
  const given = found === undefined ? undefined : parseEndpoint(found, options.allowInsecure ?? false);
  const region = resolveRegion(options, given?.loopback ? "us-east-1" : undefined);
  const endpoint = given ?? parseEndpoint(place.inRegion(region), false);
  const credentials = options.credentials ?? (endpoint.loopback ? dummyCredentials : defaultCredentials({ profile: options.profile }));
  return {
    endpoint,
    region,
    credentials: typeof credentials === "function" ? credentials : checkCredentials(credentials),
    ca: options.ca,
    now: options.now ?? Date.now,
    maxSockets: options.maxSockets ?? 64,
    connectTimeout: options.connectTimeout ?? 3_000,
    requestTimeout: options.requestTimeout ?? 10_000,
  };
};

/**
 * Edgetable's transport: keep-alive HTTP/1.1 over a bare socket, Signature Version 4 and plain JSON. Nothing is sent until
 * the first request. Sockets do not keep the process alive.
 *
 * @throws {plan.invalidOption} if an option is unknown or out of range, no region is found, or the endpoint (the option's or
 * the configured one) is plain http to another machine without `allowInsecure`
 * @throws {execute.credentials} if fixed credentials are incomplete
 * @example
 * const transport = createLeanTransport({ endpoint: "http://127.0.0.1:8000" });
 */
export const createLeanTransport = (options: LeanTransportOptions = {}): Transport => {
  const settings = settle(options, { configured: configuredEndpoint, inRegion: serviceEndpoint });
  // Sockets and TLS are loaded only by programs that connect.
  return deferTransport(async () => (await import("./open-transport.ts")).openTransport(settings));
};
