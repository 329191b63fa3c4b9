/** The number of single-character edits between two words (insert, delete, replace, swap neighbours). */
const editDistance = (a: string, b: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replace = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      let best = Math.min(replace, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
};

/**
 * The end of an error message: ` Did you mean "x"?` when a known name is near the given one, else a list of the first
 * twelve known names, else nothing. A name is near within a third of the shorter name's length in edits, at least one.
 *
 * @param word the given name
 * @example
 * console.log(`There is no edge "enroledIn".${didYouMean("enroledIn", ["teaches", "enrolledIn"])}`);
 */
export const didYouMean = (word: string | undefined, known: readonly string[]): string => {
  // Callers in JavaScript may pass other types.
  const given = String(word);
  let near: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    const isNear = distance <= Math.max(1, Math.floor(Math.min(given.length, name.length) / 3));
    if (isNear && (!near || distance < near.distance)) near = { name, distance };
  }
  if (near) return ` Did you mean "${near.name}"?`;
  return known.length === 0 ? "" : ` Known: ${known.slice(0, 12).join(", ")}${known.length > 12 ? ", …" : ""}.`;
};
