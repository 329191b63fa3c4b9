/** Reads CSV as RFC 4180 has it, a character at a time. */
export const readCsv = (csv: string): readonly (readonly string[])[] => {
  const records: string[][] = [[]];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < csv.length; at++) {
    const one = csv[at];
    if (quoted) {
      if (one !== '"') cell += one;
      else if (csv[at + 1] === '"') cell += csv[at++];
      else quoted = false;
    } else if (one === '"') quoted = true;
    else if (one === "," || one === "\r") {
      records.at(-1)?.push(cell);
      cell = "";
      if (one === "\r") {
        at++;
        records.push([]);
      }
    } else cell += one;
  }
  return records.slice(0, -1);
};
