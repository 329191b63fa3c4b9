import { randomBytes } from "node:crypto";
import type { Io, Output } from "../io.ts";

// Control characters, lone surrogates, line separators and invisible characters: such text can move the cursor, reorder
// its surroundings or imitate other text. Line breaks are layout and stay.
const hidden = /(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const isHidden = new RegExp(hidden.source, "u");

// Joiners shape the letters of some scripts and combine pictures. Between other characters they can only deceive.
const joinable = /(?=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\P{Script=Latin}/u;
const takesVariant = /\p{Emoji}|\p{Ideographic}/u;

/** True for joiners and variation selectors where they have an effect on the text. */
const isLegitimate = (character: string, text: string, at: number): boolean => {
  const isVariant = character >= "\ufe00" && character <= "\ufe0f";
  if (!isVariant && character !== "\u200c" && character !== "\u200d") return false;
  const before = /.$/su.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? "";
  if (isVariant) return takesVariant.test(before);
  const after = /^./su.exec(text.slice(at + 1, at + 3))?.[0] ?? "";
  return joinable.test(before) && joinable.test(after);
};

const replaceHidden = (text: string, write: (character: string) => string): string =>
  isHidden.test(text)
    ? text.replaceAll(hidden, (character, at: number) => (isLegitimate(character, text, at) ? character : write(character)))
    : text;

/** Escapes invisible characters, as in `\x1b` and `\u202e`. Line breaks stay. */
export const visible = (text: string): string =>
  replaceHidden(text, (character) => {
    if (character === "\t") return String.raw`\t`;
    if (character === "\r") return String.raw`\r`;
    const code = character.codePointAt(0) ?? 0;
    const digits = code.toString(16);
    if (code > 0xffff) return `\\u{${digits}}`;
    return code < 0x100 ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });

/** {@link visible} on one line. */
export const visibleLine = (text: string): string => visible(text).replaceAll("\n", String.raw`\n`);

/** Escapes the invisible characters in JSON; the JSON keeps its meaning. */
export const visibleJson = (json: string): string =>
  replaceHidden(json, (character) => {
    let escaped = "";
    for (let at = 0; at < character.length; at++) escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
    return escaped;
  });

// Marks the control sequences of this program with a random word that stored data cannot contain.
const seal = `\u001b${randomBytes(12).toString("base64url")}`;

/** A control sequence of this program, such as `[31m`. Only these reach a terminal. */
const control = (sequence: string): string => seal + sequence;

const shield = (text: string): string => {
  let shown = "";
  for (const [at, piece] of text.split(seal).entries()) {
    const [own = "", start = "", sequence = ""] = (at > 0 && /^(\r?)(\[\d*[A-Za-z])/.exec(piece)) || [];
    shown += (own === "" ? "" : `${start}\u001b${sequence}`) + visible(piece.slice(own.length));
  }
  return shown;
};

const shieldedOutput = (output: Output): Output => ({
  write: (text) => output.write(shield(text)),
  writeExact: (text) => output.write(output.isTTY ? shield(text.replaceAll("\r\n", "\n")) : text),
  drained: () => output.drained(),
  isTTY: output.isTTY,
  get columns() {
    return output.columns;
  },
});

/** An io that passes only {@link control} sequences to the terminal, wherever a text comes from. Pipes are treated alike. */
export const shielded = (io: Io): Io => ({ ...io, out: shieldedOutput(io.out), err: shieldedOutput(io.err) });

const codes = { bold: [1, 22], dim: [2, 22], underline: [4, 24], red: [31, 39], yellow: [33, 39], cyan: [36, 39] } as const;

/** Functions that colour text, or return it unchanged if colour is off. */
export type Style = Readonly<Record<keyof typeof codes, (text: string) => string>> & { readonly isColorSupported: boolean };

/** @param colours false to leave text unchanged */
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

/** The style of a stream: colour only on a terminal, unless FORCE_COLOR or NO_COLOR override it. */
export const styleOf = (output: Output, env: Io["env"]): Style => {
  // no-color.org: any value that is not empty switches colour off.
  if (env["NO_COLOR"]) return createStyle(false);
  const { FORCE_COLOR: force = "" } = env;
  return createStyle(force === "" ? output.isTTY && env["TERM"] !== "dumb" : force !== "0" && force !== "false");
};

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const zeroWidth = /\p{Mark}|\u200d/u;

/** The number of terminal columns that a text occupies. */
export const widthOf = (text: string): number => {
  let width = 0;
  for (const character of visible(text)) if (!zeroWidth.test(character)) width += wide.test(character) ? 2 : 1;
  return width;
};

/** Breaks a word into pieces of at most `width` columns. */
const cut = (word: string, width: number): readonly string[] => {
  const pieces: string[] = [];
  let piece = "";
  for (const character of word) {
    if (piece !== "" && widthOf(piece + character) > width) {
      pieces.push(piece);
      piece = "";
    }
    piece += character;
  }
  return [...pieces, piece];
};

/** Breaks a text into lines of at most `width` columns, between words if possible. */
export const wrap = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  for (const paragraph of visible(text).split("\n")) {
    let line = "";
    let used = 0;
    for (const word of paragraph.split(" ").flatMap((one) => (widthOf(one) > width ? cut(one, width) : one))) {
      const wanted = widthOf(word);
      const isFirst = line === "";
      if (!isFirst && used + 1 + wanted > width) {
        lines.push(line);
        [line, used] = [word, wanted];
      } else [line, used] = isFirst ? [word, wanted] : [`${line} ${word}`, used + 1 + wanted];
    }
    lines.push(line);
  }
  return lines;
};

/** Pads a text with spaces to a width. */
export const pad = (text: string, width: number, align: "left" | "right" = "left"): string => {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + space : space + text;
};

/** Name and value pairs as lines: the name once, in a dim column of `titles` columns, the value wrapped beside it. */
export const pairLines = (
  pairs: readonly (readonly [name: string, value: string])[],
  { titles, width, style }: { readonly titles: number; readonly width: number; readonly style: Style },
): readonly string[] => {
  const lines: string[] = [];
  for (const [name, value] of pairs)
    for (const [at, line] of wrap(value, width).entries()) lines.push(`${style.dim(pad(at === 0 ? name : "", titles))}${line}`);
  return lines;
};

/** A status line that is overwritten on a terminal, and printed now and then elsewhere. */
export interface Progress {
  show(text: string): void;
  /** Prints a permanent line above it. */
  say(text: string): void;
  clear(): void;
}

const TERMINAL_INTERVAL = 150;
const LOG_INTERVAL = 5000;

/** Milliseconds between two updates. */
export const progressEvery = ({ err }: Io): number => (err.isTTY ? TERMINAL_INTERVAL : LOG_INTERVAL);

export const createProgress = ({ err }: Io): Progress => {
  let shown = "";
  let said = Date.now();
  const clear = (): void => {
    if (shown !== "") err.write(control("\r[K"));
    shown = "";
  };
  const show = (text: string): void => {
    if (!err.isTTY) {
      if (Date.now() - said < LOG_INTERVAL) return;
      said = Date.now();
      err.write(`${text}\n`);
      return;
    }
    clear();
    // A wrapped line cannot be overwritten, so only its first line is shown.
    shown = wrap(text, Math.max(20, (err.columns ?? 80) - 1))[0] ?? "";
    err.write(shown);
  };
  const say = (text: string): void => {
    const before = shown;
    clear();
    err.write(`${text}\n`);
    if (before !== "") show(before);
  };
  return { show, say, clear };
};
