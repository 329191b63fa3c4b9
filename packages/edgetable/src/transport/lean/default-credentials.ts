import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { CredentialProvider, Credentials } from "./credentials.ts";

export interface DefaultCredentialsOptions {
  /** Profile of the shared config and credentials files; naming one passes over the environment's keys. */
  readonly profile?: string | undefined;
}

const fromEnvironment = (): Credentials | undefined => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
    AWS_CREDENTIAL_EXPIRATION: ends,
  } = process.env;
  if (!accessKeyId || !secretAccessKey) return undefined;
  const expiration = ends ? new Date(ends) : undefined;
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: sessionToken || undefined,
    expiration: Number.isNaN(expiration?.getTime()) ? undefined : expiration,
  };
};

type SdkProvider = (options: { readonly forceRefresh: boolean }) => Promise<Credentials>;

const providerPackage = "@aws-sdk/credential-provider-node";

const missingPackage = (cause: unknown): never => {
  throw new EdgetableError(
    "execute.credentials",
    `No AWS credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. For profiles, SSO, container, instance and web identity credentials: npm install ${providerPackage}`,
    { cause, details: { install: providerPackage } },
  );
};

const fromSdkChain = async (profile: string | undefined): Promise<SdkProvider> => {
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node").catch(missingPackage);
  return defaultProvider(profile === undefined ? {} : { profile });
};

/**
 * AWS credentials from where they usually are: environment variables (nothing is loaded for these),
 * else the AWS SDK's own chain, an optional package: shared files and profiles, SSO, web identity,
 * container and instance roles.
 *
 * @throws {execute.credentials} from the provider, when nothing gives credentials; names the package
 * to install when it is missing.
 */
export const defaultCredentials = (options: DefaultCredentialsOptions = {}): CredentialProvider => {
  let chain: Promise<SdkProvider> | undefined;
  return async () => {
    const found = options.profile === undefined ? fromEnvironment() : undefined;
    if (found !== undefined) return found;
    chain ??= fromSdkChain(options.profile);
    chain.catch(() => (chain = undefined));
    const provider = await chain;
    // The chain keeps a copy of its own, which would come back after the service called it expired.
    return provider({ forceRefresh: true });
  };
};
