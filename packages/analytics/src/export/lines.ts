import type { Readable } from "node:stream";

/** The lines of a text, which end with LF or CR LF alone: JSON and Ion may hold U+2028 and U+2029 as they are, at which readline ends a line. */
export async function* linesOf(input: Readable): AsyncGenerator<string> {
  let begun: string[] = [];
  for await (const chunk of input.setEncoding("utf8") as AsyncIterable<string>) {
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      yield begun.join("") + chunk.slice(from, end);
      begun = [];
      from = end + 1;
    }
    begun.push(chunk.slice(from));
  }
  const last = begun.join("");
  if (last !== "") yield last;
}
