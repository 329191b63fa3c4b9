import { type KeyDialect, type Refusal, refusal } from "./field-format.ts";

// Everything up to "$" is escaped, so each written character sorts above every delimiter ("!" to "#").
const highestEscaped = 0x24;
// "$" + "0".."T" for the codes 0x00..0x24: keeps their order, and needs no escaping itself.
const shift = 0x30;
const needsCare = /[\u0000-\u0024\ud800-\udfff]/;

/** Of ECMAScript 2024; Node has it since 20.0. */
interface UnicodeText {
  isWellFormed(): boolean;
}

/** Whether the text survives UTF-8: a surrogate without its partner does not. */
export const isWellFormed = (text: string): boolean => (text as unknown as UnicodeText).isWellFormed();

const notUnicode: Refusal = refusal(
  "keys.notEncodable",
  "holds half of a surrogate pair, which UTF-8 cannot store",
  "Repair the text with its toWellFormed() before it becomes part of a key.",
);

const escape = (text: string): string => {
  let escaped = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > highestEscaped) continue;
    escaped += text.slice(from, at) + "$" + String.fromCharCode(code + shift);
    from = at + 1;
  }
  return escaped + text.slice(from);
};

const unescape = (text: string): string | undefined => {
  let plain = "";
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > highestEscaped) continue;
    const code = text.charCodeAt(at + 1) - shift;
    if (text[at] !== "$" || !(code >= 0 && code <= highestEscaped)) return undefined;
    plain += text.slice(from, at) + String.fromCharCode(code);
    from = at + 2;
    at++;
  }
  return plain + text.slice(from);
};

/** Writes a text; in a dialect that escapes, the result holds nothing that sorts below `$`. */
export const encodeText = (text: string, dialect: KeyDialect): string | Refusal => {
  if (!dialect.escapes) return isWellFormed(text) ? text : notUnicode;
  if (!needsCare.test(text)) return text;
  return isWellFormed(text) ? escape(text) : notUnicode;
};

/** Reads what {@link encodeText} wrote; undefined when it did not write this. */
export const decodeText = (text: string, dialect: KeyDialect): string | undefined => {
  if (!dialect.escapes) return isWellFormed(text) ? text : undefined;
  if (!needsCare.test(text)) return text;
  return isWellFormed(text) ? unescape(text) : undefined;
};
