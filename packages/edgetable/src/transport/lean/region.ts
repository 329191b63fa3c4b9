import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { EdgetableError } from "../../errors/edgetable-error.ts";

/** What decides about a region. */
export interface RegionSource {
  readonly region?: string | undefined;
  /** Profile of the shared config file. @default AWS_PROFILE, else "default" */
  readonly profile?: string | undefined;
}

const readConfigFile = (): string => {
  try {
    return readFileSync(process.env["AWS_CONFIG_FILE"] ?? join(homedir(), ".aws", "config"), "utf8");
  } catch {
    return "";
  }
};

/** The `region` of one profile in the text of a shared config file. */
export const regionInConfig = (text: string, profile: string): string | undefined => {
  const headers = profile === "default" ? ["default", "profile default"] : [`profile ${profile}`];
  let inside = false;
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trimEnd();
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1];
    if (section !== undefined) inside = headers.includes(section.trim().replaceAll(/\s+/g, " "));
    // A line that begins with white space belongs to a nested setting such as `s3 =`.
    const value = inside ? /^region\s*=\s*([^\s#;]+)/.exec(line)?.[1] : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
};

// The region becomes a part of the host's name, so nothing else may pass.
const wellFormed = /^[a-z0-9]+(?:-[a-z0-9]+)*$/i;

/**
 * The region: the option, AWS_REGION, AWS_DEFAULT_REGION, the profile's in the shared config file
 * (AWS_CONFIG_FILE, else `~/.aws/config`), or the fallback.
 *
 * @throws {plan.invalidOption} when there is none, or it is not the name of a region.
 */
export const resolveRegion = (source: RegionSource, fallback?: string): string => {
  const profile = source.profile ?? process.env["AWS_PROFILE"] ?? "default";
  const region =
    source.region ||
    process.env["AWS_REGION"] ||
    process.env["AWS_DEFAULT_REGION"] ||
    regionInConfig(readConfigFile(), profile) ||
    fallback;
  if (region === undefined) {
    throw new EdgetableError(
      "plan.invalidOption",
      `No AWS region: give \`region\`, set AWS_REGION, or add a region to profile "${profile}" in ~/.aws/config.`,
      { details: { option: "region", profile } },
    );
  }
  if (!wellFormed.test(region)) {
    throw new EdgetableError("plan.invalidOption", `region "${region}" is not the name of an AWS region, such as "eu-central-1".`, {
      details: { option: "region", value: region },
    });
  }
  return region;
};
