import { isEdgetableError, EdgetableError } from "../../errors/edgetable-error.ts";

/** AWS credentials, as the AWS SDK's providers give them too. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When they end; absent means never. */
  readonly expiration?: Date | undefined;
}

/** Gives fresh credentials each time it is called; the transport caches them. */
export type CredentialProvider = () => Promise<Credentials>;

/** Keeps one set of credentials and replaces it in time. */
export interface CredentialCache {
  /** The credentials to sign with now, or undefined when they have to be waited for. */
  current(now: number): Credentials | undefined;
  /** Waits for fresh credentials; callers at the same time share one call of the provider. */
  refresh(): Promise<Credentials>;
  /** Forgets these credentials; true when a later request may get others. */
  drop(used: Credentials): boolean;
}

// Ahead of the end by as much as the AWS SDK's own memoizer (5 minutes).
const refreshAhead = 300_000;

// Anything else would let a provider add header lines to a request.
const headerText = /^[\x21-\x7e]+$/;

// A text, as JSON has it, would end the second request; a date that is no time would never end.
const isTime = (expiration: Partial<Date>): boolean => Number.isFinite(expiration.getTime?.());

const isUsable = (given: Credentials | undefined): boolean =>
  given !== undefined &&
  headerText.test(given.accessKeyId) &&
  typeof given.secretAccessKey === "string" &&
  given.secretAccessKey !== "" &&
  (given.sessionToken === undefined || headerText.test(given.sessionToken)) &&
  (!given.expiration || isTime(given.expiration));

const checked = (given: Credentials | undefined): Credentials => {
  if (given !== undefined && isUsable(given)) return given;
  throw new EdgetableError(
    "execute.credentials",
    "The credentials lack accessKeyId or secretAccessKey, hold characters that no AWS credential has, or expire at what is no Date: check what `credentials` gives.",
  );
};

const fixedCredentials = (credentials: Credentials): CredentialCache => {
  checked(credentials);
  return { current: () => credentials, refresh: () => Promise.resolve(credentials), drop: () => false };
};

const callProvider = async (provider: CredentialProvider): Promise<Credentials> => {
  try {
    return checked(await provider());
  } catch (cause) {
    if (isEdgetableError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EdgetableError("execute.credentials", `No AWS credentials: ${reason}`, { cause });
  }
};

const providedCredentials = (provider: CredentialProvider): CredentialCache => {
  let cached: Credentials | undefined;
  let underway: Promise<Credentials> | undefined;
  const refresh = (): Promise<Credentials> => {
    underway ??= callProvider(provider)
      .then((fresh) => (cached = fresh))
      .finally(() => (underway = undefined));
    return underway;
  };
  return {
    current(now) {
      const left = (cached?.expiration?.getTime() ?? Number.POSITIVE_INFINITY) - now;
      if (left <= 0) return undefined;
      // A refresh that fails ahead of time hurts nobody: these still work, and the next request tries again.
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

/**
 * A cache over fixed credentials or over a provider.
 *
 * @throws {execute.credentials} at once when fixed credentials are incomplete; from `refresh` when
 * the provider fails or gives incomplete ones.
 */
export const cacheCredentials = (source: Credentials | CredentialProvider): CredentialCache =>
  typeof source === "function" ? providedCredentials(source) : fixedCredentials(source);
