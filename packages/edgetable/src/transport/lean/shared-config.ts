import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Settings of one section; a nested one as `dynamodb.endpoint_url`. */
export type Settings = ReadonlyMap<string, string>;

/** The variables that decide; a program hands in its own. */
export type Environment = Readonly<Record<string, string | undefined>>;

const read = (path: string | undefined, usual: string): string => {
  try {
    return readFileSync(path || join(homedir(), ".aws", usual), "utf8");
  } catch {
    return "";
  }
};

const sectionName = (line: string): string | undefined =>
  /^\[([^\]]*)\]$/
    .exec(line)?.[1]
    ?.trim()
    .replaceAll(/\s+/g, " ")
    .replace(/^(\S+) (["'])(.*)\2$/, "$1 $3");

/**
 * The settings of the sections with one of these names, in the text of a shared config or credentials file; undefined
 * where there is no such section. As in the AWS SDK, a comment starts after white space, and of two values the later counts.
 */
export const settingsIn = (text: string, ...names: readonly string[]): Settings | undefined => {
  let found: Map<string, string> | undefined;
  let inside = false;
  let parent = "";
  for (const raw of text.split(/\r?\n/)) {
    const line = (raw.split(/(?:^|\s)[#;]/)[0] ?? "").trimEnd();
    const section = sectionName(line.trim());
    if (section !== undefined) {
      inside = names.includes(section);
      if (inside) found ??= new Map();
      parent = "";
    }
    const [, indent, name = "", value = ""] = (inside && /^(\s*)([^\s=[][^=]*?)\s*=\s*(.*)$/.exec(line)) || [];
    if (indent === "") parent = value === "" ? `${name}.` : "";
    if (value !== "") found?.set(indent === "" ? name : `${parent}${name}`, value);
  }
  return found;
};

/** The shared files, as far as one profile goes. Each is read when the first setting is asked for. */
export interface SharedConfig {
  readonly profile: string;
  setting(name: string): string | undefined;
  /** The settings of `[services name]`. */
  services(name: string): Settings | undefined;
}

/**
 * Opens the config file (AWS_CONFIG_FILE) and, for what that does not say, the credentials file (AWS_SHARED_CREDENTIALS_FILE),
 * for the profile that is named, that of AWS_PROFILE, or "default".
 */
export const openSharedConfig = (named: string | undefined, environment: Environment = process.env): SharedConfig => {
  const profile = named || environment["AWS_PROFILE"] || "default";
  let config: string | undefined;
  let sections: readonly (Settings | undefined)[] | undefined;
  const configText = (): string => (config ??= read(environment["AWS_CONFIG_FILE"], "config"));
  const load = (): readonly (Settings | undefined)[] => [
    settingsIn(configText(), `profile ${profile}`, ...(profile === "default" ? ["default"] : [])),
    settingsIn(read(environment["AWS_SHARED_CREDENTIALS_FILE"], "credentials"), profile),
  ];
  return {
    profile,
    setting: (name) => (sections ??= load()).find((section) => section?.has(name))?.get(name),
    services: (name) => settingsIn(configText(), `services ${name}`),
  };
};
