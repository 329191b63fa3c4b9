import picocolors from "picocolors";
import type { Io, Output } from "../io.ts";

/** Colours that are plain text where they are not wanted. */
export type Style = ReturnType<typeof picocolors.createColors>;

const wantsColour = (output: Output, env: Io["env"]): boolean => {
  // no-color.org: any value that is not empty switches colour off.
  if (env["NO_COLOR"]) return false;
  const force = env["FORCE_COLOR"];
  if (force !== undefined && force !== "") return force !== "0" && force !== "false";
  return output.isTTY && env["TERM"] !== "dumb";
};

/** The style of a stream: colour on a terminal only, unless FORCE_COLOR or NO_COLOR say otherwise. */
export const styleOf = (output: Output, env: Io["env"]): Style => picocolors.createColors(wantsColour(output, env));
