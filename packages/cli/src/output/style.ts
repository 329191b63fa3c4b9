import type { Io, Output } from "../io.ts";
import { control } from "./visible.ts";

const codes = { bold: [1, 22], dim: [2, 22], underline: [4, 24], red: [31, 39], yellow: [33, 39], cyan: [36, 39] } as const;

/** Colours that are plain text where they are not wanted. */
export type Style = Readonly<Record<keyof typeof codes, (text: string) => string>> & { readonly isColorSupported: boolean };

/** @param colours whether there are any */
export const createStyle = (colours: boolean): Style => {
  const paint =
    ([on, off]: readonly [number, number]) =>
    (text: string): string =>
      colours ? `${control(`[${on}m`)}${text}${control(`[${off}m`)}` : text;
  const { bold, dim, underline, red, yellow, cyan } = codes;
  return {
    isColorSupported: colours,
    bold: paint(bold),
    dim: paint(dim),
    underline: paint(underline),
    red: paint(red),
    yellow: paint(yellow),
    cyan: paint(cyan),
  };
};

const wantsColour = (output: Output, env: Io["env"]): boolean => {
  // no-color.org: any value that is not empty switches colour off.
  if (env["NO_COLOR"]) return false;
  const force = env["FORCE_COLOR"];
  if (force !== undefined && force !== "") return force !== "0" && force !== "false";
  return output.isTTY && env["TERM"] !== "dumb";
};

/** The style of a stream: colour on a terminal only, unless FORCE_COLOR or NO_COLOR say otherwise. */
export const styleOf = (output: Output, env: Io["env"]): Style => createStyle(wantsColour(output, env));
