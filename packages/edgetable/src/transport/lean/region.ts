import { EdgetableError } from "../../errors/edgetable-error.ts";
import { openSharedConfig } from "./shared-config.ts";

// The region becomes a part of the host's name, so nothing else may pass.
const wellFormed = /^[a-z0-9]+(?:-[a-z0-9]+)*$/i;

/** What decides about a region. */
export interface RegionSource {
  readonly region?: string | undefined;
  /** Profile of the shared files. @default AWS_PROFILE, else "default" */
  readonly profile?: string | undefined;
}

/**
 * The region: the option, AWS_REGION, AWS_DEFAULT_REGION, the profile's in the shared files, or the fallback.
 *
 * @throws {plan.invalidOption} when there is none, or it is not the name of a region.
 */
export const resolveRegion = (source: RegionSource, fallback?: string): string => {
  const config = openSharedConfig(source.profile);
  const region = source.region || process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"] || config.setting("region") || fallback;
  if (region === undefined) {
    throw new EdgetableError(
      "plan.invalidOption",
      `No AWS region: give \`region\`, set AWS_REGION, or add a region to profile "${config.profile}" in ~/.aws/config.`,
      { details: { option: "region", profile: config.profile } },
    );
  }
  if (!wellFormed.test(region)) {
    throw new EdgetableError("plan.invalidOption", `region "${region}" is not the name of an AWS region, such as "eu-central-1".`, {
      details: { option: "region", value: region },
    });
  }
  return region;
};
