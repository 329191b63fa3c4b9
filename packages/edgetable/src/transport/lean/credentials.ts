// The credentials of AWS: their form, and where they are found unless an option gives them.
import { EdgetableError } from "../../errors/edgetable-error.ts";

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

// Any other character would let a provider add header lines to a request.
const headerText = /^[\x21-\x7e]+$/;

/**
 * Gives complete credentials back.
 *
 * @throws {execute.credentials} if they are incomplete, or a header cannot hold them
 */
export const checkCredentials = (given: Credentials | null | undefined): Credentials => {
  const usable =
    !!given &&
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

export interface DefaultCredentialsOptions {
  /** Profile of the shared config and credentials files. If given, the environment's keys are ignored. */
  readonly profile?: string | undefined;
}

type SdkProvider = (options: { readonly forceRefresh: boolean }) => Promise<Credentials>;

const providerPackage = "@aws-sdk/credential-provider-node";

// In a `try`, so that webpack and Turbopack build applications without the package.
const importProviders = async (): Promise<typeof import("@aws-sdk/credential-provider-node")> => {
  try {
    return await import("@aws-sdk/credential-provider-node");
  } catch (cause) {
    throw new EdgetableError(
      "execute.credentials",
      `No AWS credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. For profiles, SSO, container, instance and web identity credentials: npm install ${providerPackage}`,
      { cause, details: { install: providerPackage } },
    );
  }
};

const loadSdkChain = async (profile: string | undefined): Promise<SdkProvider> => {
  const { defaultProvider } = await importProviders();
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
