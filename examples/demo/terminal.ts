import picocolors from "picocolors";
import type { WriteStream } from "node:tty";

export type Colors = ReturnType<typeof picocolors.createColors>;

/** Where text goes, with what it may use there. */
export interface Terminal {
  readonly colors: Colors;
  /** Columns to fill, 60 to 100. */
  readonly width: number;
  write(text: string): void;
}

const WIDEST = 100;
const NARROWEST = 60;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Colour goes to terminals; NO_COLOR and FORCE_COLOR (not "0") decide otherwise, NO_COLOR first. */
const usesColor = (stream: Pick<WriteStream, "isTTY">, environment: Environment): boolean => {
  if (environment["NO_COLOR"]) return false;
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stream.isTTY && environment["TERM"] !== "dumb";
};

/** A stream as a terminal. */
export const terminalOf = (stream: WriteStream, environment: Environment): Terminal => ({
  colors: picocolors.createColors(usesColor(stream, environment)),
  width: Math.min(WIDEST, Math.max(NARROWEST, stream.isTTY ? stream.columns : WIDEST)),
  write: (text) => void stream.write(text),
});
