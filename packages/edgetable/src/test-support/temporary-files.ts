import { readdirSync, readlinkSync } from "node:fs";

/** Whether the system tells which files a process has open. */
export const tellsOpenFiles: boolean = process.platform === "linux";

/** Temporary files of the library that this process has open: paths to read them by, and the names that they have. */
export const openTemporaryFiles = (): readonly { readonly path: string; readonly name: string }[] =>
  readdirSync("/proc/self/fd").flatMap((descriptor) => {
    const path = `/proc/self/fd/${descriptor}`;
    try {
      const name = readlinkSync(path);
      return /[/]edgetable-[0-9a-f-]{36}/.test(name) ? [{ path, name }] : [];
    } catch {
      // The one that the folder was read by.
      return [];
    }
  });
