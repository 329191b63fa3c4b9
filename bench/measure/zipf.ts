export interface Zipf {
  readonly ranks: number;
  /** Rank r is drawn in proportion to 1 / r^shape. */
  readonly shape: number;
}

/** Draws ranks from 0 on, the first most often. */
export const zipfFrom = ({ ranks, shape }: Zipf, random: () => number): (() => number) => {
  const sums = new Float64Array(ranks);
  let sum = 0;
  for (let rank = 0; rank < ranks; rank++) sums[rank] = sum += 1 / (rank + 1) ** shape;
  return () => {
    const drawn = random() * sum;
    let low = 0;
    for (let high = ranks - 1; low < high;) {
      const middle = (low + high) >> 1;
      if ((sums[middle] as number) > drawn) high = middle;
      else low = middle + 1;
    }
    return low;
  };
};

/** The part of all draws that falls to the first rank. */
export const shareOfFirst = ({ ranks, shape }: Zipf): number => {
  let sum = 0;
  for (let rank = 0; rank < ranks; rank++) sum += 1 / (rank + 1) ** shape;
  return 1 / sum;
};
