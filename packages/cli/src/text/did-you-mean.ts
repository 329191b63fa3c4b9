/** Number of single-character edits between two words: insert, delete, replace, swap neighbours. */
const distance = (a: string, b: string): number => {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swaps = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = swaps ? (beforeLast[column - 2] ?? 0) + 1 : replaced;
      current.push(Math.min(replaced, swapped, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
};

/** ` Did you mean "x"?` for the nearest known name, else the list of names, else nothing. */
export const didYouMean = (given: string, known: readonly string[]): string => {
  const near = known
    .map((name) => ({ name, far: distance(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.floor(Math.max(given.length, name.length) / 3)))
    .toSorted((a, b) => a.far - b.far)[0];
  if (near) return ` Did you mean "${near.name}"?`;
  return known.length === 0 ? "" : ` Known: ${known.slice(0, 20).join(", ")}${known.length > 20 ? ", …" : ""}.`;
};
