/** The first line and the headers of an HTTP response that this transport looks at. */
export interface ResponseHead {
  readonly status: number;
  /** Whether the connection may carry another request afterwards. */
  keepAlive: boolean;
  chunked: boolean;
  /** Bytes of body announced, or -1. */
  length: number;
  crc32: string;
  requestId: string;
  errorType: string;
  contentType: string;
  encoding: string;
  date: string;
}

/** What the other side sent is not HTTP/1.1 as this transport understands it. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const digits = /^\d{1,15}$/;

const readStatus = (text: string): ResponseHead => {
  const status = Number(text.slice(9, 12));
  const afterStatus = text.charCodeAt(12);
  const wellFormed =
    text.startsWith("HTTP/1.") &&
    text[8] === " " &&
    status >= 100 &&
    status <= 599 &&
    (afterStatus === 32 || afterStatus === 13 || text.length === 12);
  if (!wellFormed) throw new ProtocolError("the answer does not begin as HTTP/1.1 does");
  return {
    status,
    keepAlive: text[7] === "1",
    chunked: false,
    length: -1,
    crc32: "",
    requestId: "",
    errorType: "",
    contentType: "",
    encoding: "",
    date: "",
  };
};

const noteLength = (head: ResponseHead, value: string): void => {
  const length = digits.test(value) ? Number(value) : -1;
  if (length < 0 || (head.length >= 0 && head.length !== length))
    throw new ProtocolError(`content-length "${value.slice(0, 40)}" is not one number`);
  head.length = length;
};

const noteConnection = (head: ResponseHead, value: string): void => {
  const lower = value.toLowerCase();
  if (lower.includes("close")) head.keepAlive = false;
  else if (lower.includes("keep-alive")) head.keepAlive = true;
};

const noteHeader = (head: ResponseHead, name: string, value: string): void => {
  if (name === "content-length") noteLength(head, value);
  else if (name === "connection") noteConnection(head, value);
  else if (name === "x-amz-crc32") head.crc32 = value;
  else if (name === "x-amzn-requestid") head.requestId = value;
  else if (name === "x-amzn-errortype") head.errorType = value;
  else if (name === "content-type") head.contentType = value;
  else if (name === "content-encoding") head.encoding = value.toLowerCase();
  else if (name === "date") head.date = value;
  else if (name === "transfer-encoding") {
    if (value.toLowerCase() !== "chunked") throw new ProtocolError(`transfer-encoding "${value.slice(0, 40)}" is not understood`);
    head.chunked = true;
  }
};

// Lengths of the header names above: others are passed over without cutting them out of the text.
const lengthsOfInterest: ReadonlySet<number> = new Set([4, 10, 11, 12, 14, 16, 17]);

/**
 * Reads a head, given as Latin-1 text without the blank line that ends it.
 *
 * @throws ProtocolError when it is malformed or ambiguous (two lengths, an unknown transfer encoding).
 */
export const parseResponseHead = (text: string): ResponseHead => {
  const head = readStatus(text);
  let at = text.indexOf("\r\n");
  while (at >= 0 && at < text.length) {
    const start = at + 2;
    at = text.indexOf("\r\n", start);
    const stop = at < 0 ? text.length : at;
    const colon = text.indexOf(":", start);
    if (colon <= start || colon >= stop || text.charCodeAt(start) <= 32) throw new ProtocolError("a header line is malformed");
    if (lengthsOfInterest.has(colon - start)) noteHeader(head, text.slice(start, colon).toLowerCase(), text.slice(colon + 1, stop).trim());
  }
  // Both at once is how requests are smuggled past proxies: read it as chunked, and never reuse the connection.
  if (head.chunked && head.length >= 0) head.keepAlive = false;
  return head;
};
