export { createSdkTransport } from "./sdk-transport.ts";
