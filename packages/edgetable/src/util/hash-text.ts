/** A 64-bit hash of a text, as two halves: cyrb53 by bryc (public domain), without joining the halves. */
export const hashText = (text: string): readonly [high: number, low: number] => {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return [high >>> 0, low >>> 0];
};

/** {@link hashText} as 16 hexadecimal digits. */
export const hexHashOf = (text: string): string =>
  hashText(text)
    .map((half) => half.toString(16).padStart(8, "0"))
    .join("");
