import { visible } from "./visible.ts";

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;
const none = /\p{Mark}|\u200d/u;

/** How many columns of a terminal a text takes. */
export const widthOf = (text: string): number => {
  let width = 0;
  for (const character of visible(text)) if (!none.test(character)) width += wide.test(character) ? 2 : 1;
  return width;
};

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

/** Breaks a text into lines of at most so many columns, between words where it can. */
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

/** Fills a text with spaces to a width. */
export const pad = (text: string, width: number, align: "left" | "right" = "left"): string => {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "left" ? text + space : space + text;
};
