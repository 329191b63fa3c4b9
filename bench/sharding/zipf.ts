/** Draws ranks from 0 on; rank r is drawn in proportion to 1 / (r + 1) ** skew. A skew of 0 is even. */
export const zipf = (ranks: number, skew: number): ((random: number) => number) => {
  const sums: number[] = [];
  let sum = 0;
  for (let rank = 0; rank < ranks; rank++) sums.push((sum += 1 / (rank + 1) ** skew));
  return (random) => {
    const wanted = random * sum;
    let low = 0;
    let high = ranks - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  };
};

/** The part of all draws that falls to the first rank. */
export const shareOfFirst = (ranks: number, skew: number): number => {
  let sum = 0;
  for (let rank = 0; rank < ranks; rank++) sum += 1 / (rank + 1) ** skew;
  return 1 / sum;
};
