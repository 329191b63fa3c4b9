import { randomBytes } from "node:crypto";
import type { Io, Output } from "../io.ts";

// Controls, halves of surrogate pairs, line separators, and what takes no room on a screen: such text moves the cursor,
// reorders what stands around it, or looks like another text. A line break is layout.
const hidden = /(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const isHidden = new RegExp(hidden.source, "u");

// Joiners shape the letters of some scripts and join pictures; between other characters they only deceive.
const shapes = /(?=[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\P{Script=Latin}/u;
const takesVariant = /\p{Emoji}|\p{Ideographic}/u;

const isLegitimate = (character: string, text: string, at: number): boolean => {
  const isVariant = character >= "\ufe00" && character <= "\ufe0f";
  if (!isVariant && character !== "\u200c" && character !== "\u200d") return false;
  const before = /.$/su.exec(text.slice(Math.max(0, at - 2), at))?.[0] ?? "";
  if (isVariant) return takesVariant.test(before);
  const after = /^./su.exec(text.slice(at + 1, at + 3))?.[0] ?? "";
  return shapes.test(before) && shapes.test(after);
};

const replaceHidden = (text: string, write: (character: string) => string): string =>
  isHidden.test(text)
    ? text.replaceAll(hidden, (character, at: number) => (isLegitimate(character, text, at) ? character : write(character)))
    : text;

const named: Readonly<Record<string, string>> = { "\t": String.raw`\t`, "\r": String.raw`\r` };

const written = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code > 0xffff) return `\\u{${digits}}`;
  return named[character] ?? (code < 0x100 ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`);
};

/** A text whose invisible characters are written out, such as `\x1b` and `\u202e`. Line breaks stay. */
export const visible = (text: string): string => replaceHidden(text, written);

/** {@link visible} in one line. */
export const visibleLine = (text: string): string => visible(text).replaceAll("\n", String.raw`\n`);

const jsonEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The same JSON with the invisible characters of its texts escaped. */
export const visibleJson = (json: string): string =>
  replaceHidden(json, (character) => Array.from({ length: character.length }, (_, at) => jsonEscape(character.charAt(at))).join(""));

// What this program itself does to a terminal carries a word that no stored value can know.
const seal = `\u001b${randomBytes(12).toString("base64url")}`;

/** A control sequence of this program, such as `[31m`: the one kind that reaches a terminal. */
export const control = (sequence: string): string => seal + sequence;

const unsealed = (text: string): string =>
  text
    .split(seal)
    .map((piece, at) => {
      const [own = "", start = "", sequence = ""] = (at > 0 && /^(\r?)(\[\d*[A-Za-z])/.exec(piece)) || [];
      return (own === "" ? "" : `${start}\u001b${sequence}`) + visible(piece.slice(own.length));
    })
    .join("");

const shieldedOutput = (output: Output): Output => ({
  write: (text) => output.write(unsealed(text)),
  drained: () => output.drained(),
  isTTY: output.isTTY,
  get columns() {
    return output.columns;
  },
});

/** An io on which nothing but {@link control} controls the terminal, wherever a text comes from. Pipes are treated alike. */
export const shielded = (io: Io): Io => ({ ...io, out: shieldedOutput(io.out), err: shieldedOutput(io.err) });
