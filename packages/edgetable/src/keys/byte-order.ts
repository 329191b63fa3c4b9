// UTF-16 puts U+E000..U+FFFF above the surrogates that stand for U+10000 and more; UTF-8 does not.
const rank = (unit: number): number => {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
};

/** Compares two keys as DynamoDB does, by the bytes of their UTF-8: negative, 0 or positive. */
export const comparePrimary = (a: string, b: string): number => {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
};

/** The length of a key in bytes of UTF-8, as DynamoDB counts it. */
export const keyBytes = (text: string): number => {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // Each half of a pair adds one byte to its unit: 2 units make 4 bytes.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
};
