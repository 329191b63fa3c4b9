import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";

/** AWS credentials, in the form of the AWS SDK's providers. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When they expire; never if absent. */
  readonly expiration?: Date | undefined;
}

/** Returns fresh credentials on each call. The transport caches them. */
export type CredentialProvider = () => Promise<Credentials>;

/** Keeps one set of credentials and replaces it in time. */
export interface CredentialCache {
  /** The credentials to sign with now, or undefined if `refresh` has to fetch them first. */
  current(now: number): Credentials | undefined;
  /** Fetches fresh credentials. Concurrent callers share one call of the provider. */
  refresh(): Promise<Credentials>;
  /** Forgets these credentials. Returns true if a later request may get others. */
  drop(used: Credentials): boolean;
}

// Credentials are replaced 5 minutes before they expire, as by the AWS SDK's memoizer.
const refreshAhead = 300_000;

// Any other character would let a provider add header lines to a request.
const headerText = /^[\x21-\x7e]+$/;

const checked = (given: Credentials | undefined): Credentials => {
  const usable =
    given !== undefined &&
    headerText.test(given.accessKeyId) &&
    typeof given.secretAccessKey === "string" &&
    given.secretAccessKey !== "" &&
    (given.sessionToken === undefined || headerText.test(given.sessionToken)) &&
    // A text, as JSON has it, would fail the second request; an invalid Date would never expire.
    (!given.expiration || Number.isFinite((given.expiration as Partial<Date>).getTime?.()));
  if (usable) return given;
  throw new EdgetableError(
    "execute.credentials",
    "The credentials lack accessKeyId or secretAccessKey, contain characters that AWS credentials never contain, or have an `expiration` that is not a valid Date: check what `credentials` returns.",
  );
};

const MEND = "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; for a local engine, give its `endpoint`.";

/**
 * A cache over fixed credentials or over a provider.
 *
 * @throws {execute.credentials} at once if fixed credentials are incomplete; from `refresh` if the provider fails or
 * returns incomplete ones
 */
export const cacheCredentials = (source: Credentials | CredentialProvider): CredentialCache => {
  if (typeof source !== "function") {
    const fixed = checked(source);
    return { current: () => fixed, refresh: () => Promise.resolve(fixed), drop: () => false };
  }
  let cached: Credentials | undefined;
  let refreshing: Promise<Credentials> | undefined;
  const fetch = async (): Promise<Credentials> => {
    try {
      return (cached = checked(await source()));
    } catch (cause) {
      if (isEdgetableError(cause)) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EdgetableError("execute.credentials", `No AWS credentials: ${reason.replace(/[.]$/, "")}. ${MEND}`, { cause });
    }
  };
  const refresh = (): Promise<Credentials> => (refreshing ??= fetch().finally(() => (refreshing = undefined)));
  return {
    current(now) {
      const left = (cached?.expiration?.getTime() ?? Number.POSITIVE_INFINITY) - now;
      if (left <= 0) return undefined;
      // If an early refresh fails, these still work and the next request tries again.
      if (left < refreshAhead) refresh().catch(() => undefined);
      return cached;
    },
    refresh,
    drop(used) {
      if (cached === used) cached = undefined;
      return true;
    },
  };
};

export interface DefaultCredentialsOptions {
  /** Profile of the shared config and credentials files. If given, the environment's keys are ignored. */
  readonly profile?: string | undefined;
}

type SdkProvider = (options: { readonly forceRefresh: boolean }) => Promise<Credentials>;

const providerPackage = "@aws-sdk/credential-provider-node";

const loadSdkChain = async (profile: string | undefined): Promise<SdkProvider> => {
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node").catch((cause: unknown) => {
    throw new EdgetableError(
      "execute.credentials",
      `No AWS credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. For profiles, SSO, container, instance and web identity credentials: npm install ${providerPackage}`,
      { cause, details: { install: providerPackage } },
    );
  });
  return defaultProvider(profile === undefined ? {} : { profile });
};

/**
 * AWS credentials from the usual places: the environment variables (which load nothing), else the AWS SDK's own chain, an
 * optional package: shared files and profiles, SSO, web identity, container and instance roles.
 *
 * @throws {execute.credentials} from the provider, if there are no credentials; names the package to install if it is
 * missing
 */
export const defaultCredentials = (options: DefaultCredentialsOptions = {}): CredentialProvider => {
  let chain: Promise<SdkProvider> | undefined;
  return async () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
      AWS_CREDENTIAL_EXPIRATION: ends,
    } = process.env;
    if (options.profile === undefined && accessKeyId && secretAccessKey) {
      const expiration = ends ? new Date(ends) : undefined;
      return {
        accessKeyId,
        secretAccessKey,
        sessionToken: sessionToken || undefined,
        expiration: Number.isNaN(expiration?.getTime()) ? undefined : expiration,
      };
    }
    chain ??= loadSdkChain(options.profile);
    chain.catch(() => (chain = undefined));
    const provider = await chain;
    // The chain caches too, and would return credentials that the service has called expired.
    return provider({ forceRefresh: true });
  };
};
