export { createLeanTransport } from "./lean-transport.ts";
export type { LeanTransportOptions } from "./lean-transport.ts";
export { configuredEndpoint, type FoundEndpoint } from "./endpoint.ts";
export { defaultCredentials } from "./default-credentials.ts";
export type { DefaultCredentialsOptions } from "./default-credentials.ts";
export type { CredentialProvider, Credentials } from "./credentials.ts";
