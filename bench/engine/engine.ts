import { createRequire } from "node:module";
import { join } from "node:path";
import { startEngine as startLocalEngine } from "@edgetable/local";

export interface Engine {
  readonly endpoint: string;
  stop(): Promise<void>;
}

// Named here and handed on, so that what is measured, and what a made database is kept under, is this engine and no other.
const manifest = createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json");
export const engineBinary: string = join(manifest, "..", "dynoxide");
/** The engine's version, as its package names it. */
export const engineVersion = `dynoxide ${(createRequire(import.meta.url)(manifest) as { readonly version: string }).version}`;

/**
 * Starts an engine in a process of its own, on a free loopback port: fresh and in memory, or on a database file. The
 * endpoint is the bare one: its guards would run in the process that is measured.
 */
export const startEngine = async (file?: string): Promise<Engine> => {
  const { bareEndpoint, stop } = await startLocalEngine({ binary: engineBinary, file });
  return { endpoint: bareEndpoint, stop };
};
