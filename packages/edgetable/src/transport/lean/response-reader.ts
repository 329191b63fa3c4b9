import zlib from "node:zlib";

/** The status line and the headers that this transport uses. */
export interface ResponseHead {
  readonly status: number;
  /** Whether the connection may carry another request afterwards. */
  keepAlive: boolean;
  chunked: boolean;
  /** The announced length of the body in bytes, or -1. */
  length: number;
  crc32: string;
  requestId: string;
  errorType: string;
  contentType: string;
  encoding: string;
  date: string;
}

/** The other side did not send HTTP/1.1 as this transport understands it. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const readHeader = (head: ResponseHead, name: string, value: string): void => {
  switch (name) {
    case "content-length": {
      const length = /^\d{1,15}$/.test(value) ? Number(value) : -1;
      if (length < 0 || (head.length >= 0 && head.length !== length))
        throw new ProtocolError(`content-length "${value.slice(0, 40)}" is not one number`);
      head.length = length;
      return;
    }
    case "connection": {
      const lower = value.toLowerCase();
      if (lower.includes("close")) head.keepAlive = false;
      else if (lower.includes("keep-alive")) head.keepAlive = true;
      return;
    }
    case "transfer-encoding":
      if (value.toLowerCase() !== "chunked") throw new ProtocolError(`transfer-encoding "${value.slice(0, 40)}" is not supported`);
      head.chunked = true;
      return;
    case "x-amz-crc32":
      head.crc32 = value;
      return;
    case "x-amzn-requestid":
      head.requestId = value;
      return;
    case "x-amzn-errortype":
      head.errorType = value;
      return;
    case "content-type":
      head.contentType = value;
      return;
    case "content-encoding":
      head.encoding = value.toLowerCase();
      return;
    case "date":
      head.date = value;
  }
};

// Lengths of the header names above. Headers of other lengths are skipped without slicing them out.
const lengthsOfInterest: ReadonlySet<number> = new Set([4, 10, 11, 12, 14, 16, 17]);

/**
 * Reads a head, given as Latin-1 text without the blank line that ends it.
 *
 * @throws ProtocolError if it is malformed or ambiguous (two lengths, an unknown transfer encoding)
 */
const parseResponseHead = (text: string): ResponseHead => {
  const status = Number(text.slice(9, 12));
  const afterStatus = text.charCodeAt(12);
  const wellFormed =
    text.startsWith("HTTP/1.") &&
    text[8] === " " &&
    status >= 100 &&
    status <= 599 &&
    (afterStatus === 32 || afterStatus === 13 || text.length === 12);
  if (!wellFormed) throw new ProtocolError("the answer does not begin as HTTP/1.1 does");
  const head: ResponseHead = {
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
  let at = text.indexOf("\r\n");
  while (at >= 0 && at < text.length) {
    const start = at + 2;
    at = text.indexOf("\r\n", start);
    const stop = at < 0 ? text.length : at;
    const colon = text.indexOf(":", start);
    if (colon <= start || colon >= stop || text.charCodeAt(start) <= 32) throw new ProtocolError("a header line is malformed");
    if (lengthsOfInterest.has(colon - start)) readHeader(head, text.slice(start, colon).toLowerCase(), text.slice(colon + 1, stop).trim());
  }
  // Request smuggling past proxies sends both. Read it as chunked, and never reuse the connection.
  if (head.chunked && head.length >= 0) head.keepAlive = false;
  return head;
};

/** Collects the bytes of a body. */
interface BodyReader {
  /** Takes bytes from `start` and returns where it stopped: before `end` only if the body is complete. */
  take(bytes: Buffer, start: number, end: number): number;
  isComplete(): boolean;
  /** True if the end of the connection ends the body. */
  readonly endsWithConnection: boolean;
  content(): Buffer;
}

/** A body of known length. */
const lengthBody = (length: number): BodyReader => {
  const content = Buffer.allocUnsafe(length);
  let filled = 0;
  return {
    take(bytes, start, end) {
      const copied = bytes.copy(content, filled, start, end);
      filled += copied;
      return start + copied;
    },
    isComplete: () => filled === length,
    endsWithConnection: false,
    content: () => content,
  };
};

interface Pieces {
  add(bytes: Buffer, start: number, end: number): void;
  all(): Buffer;
}

/** Copies pieces, up to a limit: the socket reuses its buffer for the next packet. */
const gather = (limit: number): Pieces => {
  const pieces: Buffer[] = [];
  let total = 0;
  return {
    add(bytes, start, end) {
      total += end - start;
      if (total > limit) throw new ProtocolError(`the answer is longer than ${limit} bytes`);
      pieces.push(Buffer.from(bytes.subarray(start, end)));
    },
    all: () => Buffer.concat(pieces),
  };
};

/** A body that ends with the connection. */
const openBody = (limit: number): BodyReader => {
  const pieces = gather(limit);
  return {
    take(bytes, start, end) {
      pieces.add(bytes, start, end);
      return end;
    },
    isComplete: () => false,
    endsWithConnection: true,
    content: () => pieces.all(),
  };
};

const sizeLine = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i;
// Characters of one size line with its extensions, or of all trailers together.
const lineLimit = 16_384;

/** A chunked body. Extensions and trailers are skipped (RFC 9112, section 7.1). */
class ChunkedBody implements BodyReader {
  readonly endsWithConnection = false;
  readonly #pieces: Pieces;
  #state: "size" | "data" | "data end" | "trailers" | "done" = "size";
  #line = "";
  #trailing = 0;
  #left = 0;

  constructor(limit: number) {
    this.#pieces = gather(limit);
  }

  isComplete(): boolean {
    return this.#state === "done";
  }

  take(bytes: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && !this.isComplete()) at = this.#state === "data" ? this.#takeData(bytes, at, end) : this.#takeLine(bytes, at, end);
    return at;
  }

  content(): Buffer {
    return this.#pieces.all();
  }

  #takeData(bytes: Buffer, start: number, end: number): number {
    const stop = Math.min(end, start + this.#left);
    this.#pieces.add(bytes, start, stop);
    this.#left -= stop - start;
    if (this.#left === 0) this.#state = "data end";
    return stop;
  }

  #takeLine(bytes: Buffer, start: number, end: number): number {
    const feed = bytes.indexOf(10, start);
    const stop = feed < 0 || feed >= end ? end : feed;
    this.#line += bytes.toString("latin1", start, stop);
    if (this.#state === "trailers") this.#trailing += stop - start;
    if (this.#line.length > lineLimit || this.#trailing > lineLimit)
      throw new ProtocolError("a chunk's size line or the trailers are too long");
    if (stop === end) return end;
    if (!this.#line.endsWith("\r")) throw new ProtocolError("a line of a chunked body does not end in CR LF");
    this.#lineRead(this.#line.slice(0, -1));
    this.#line = "";
    return stop + 1;
  }

  #lineRead(line: string): void {
    if (this.#state === "size") this.#sizeRead(line);
    else if (this.#state === "trailers") this.#state = line === "" ? "done" : "trailers";
    else if (line === "") this.#state = "size";
    else throw new ProtocolError("a chunk is longer than its size");
  }

  #sizeRead(line: string): void {
    const size = sizeLine.exec(line)?.[1];
    if (size === undefined) throw new ProtocolError("a chunk does not begin with its size");
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? "trailers" : "data";
  }
}

// zlib.crc32 came with Node 20.15 (1.4 µs for 6 KB); Node 20.12 to 20.14 skips the check.
const crc32: ((bytes: Uint8Array) => number) | undefined = zlib.crc32;

/** A whole HTTP response. */
export interface Answer {
  readonly head: ResponseHead;
  readonly body: string;
}

// Bytes that are decoded first: DynamoDB's heads have about 250.
const usualHead = 1024;
const headLimit = 65_536;
// A response of DynamoDB is at most 16 MB (BatchGetItem, BatchGetItem.html).
const bodyLimit = 67_108_864;

/**
 * Reads one HTTP/1.1 response after another from the packets of one connection, however they are
 * split. The usual case, a whole response in one packet, copies nothing.
 */
export class ResponseReader {
  #pending: Buffer | undefined;
  #head: ResponseHead | undefined;
  #body: BodyReader | undefined;

  /** True if a response has arrived in part. */
  get partial(): boolean {
    return this.#pending !== undefined || this.#head !== undefined;
  }

  /**
   * Takes the first `length` bytes of a packet and returns the response once it is complete.
   *
   * @throws ProtocolError if the bytes are not a response, too long, or continue after its end
   */
  take(packet: Buffer, length: number): Answer | undefined {
    if (this.#body !== undefined) return this.#takeBody(packet, 0, length);
    if (this.#pending === undefined) return this.#takeHead(packet, length);
    const joined = Buffer.concat([this.#pending, packet.subarray(0, length)]);
    this.#pending = undefined;
    return this.#takeHead(joined, joined.length);
  }

  /** Called when the connection ends. Returns the response if that completes it. */
  end(): Answer | undefined {
    return this.#body?.endsWithConnection ? this.#finish(this.#body.content()) : undefined;
  }

  #takeHead(bytes: Buffer, length: number): Answer | undefined {
    let start = 0;
    for (;;) {
      const text = bytes.toString("latin1", start, Math.min(length, start + usualHead));
      let blank = text.indexOf("\r\n\r\n");
      const whole = blank < 0 && length - start > usualHead ? bytes.toString("latin1", start, Math.min(length, start + headLimit)) : text;
      if (blank < 0) blank = whole.indexOf("\r\n\r\n");
      if (blank < 0) return this.#keepPending(bytes, start, length);
      const head = parseResponseHead(whole.slice(0, blank));
      start += blank + 4;
      if (head.status === 101) throw new ProtocolError("the answer switches to another protocol");
      if (head.status >= 200) return this.#startBody(head, bytes.subarray(start, length));
    }
  }

  #keepPending(bytes: Buffer, start: number, length: number): undefined {
    if (length - start >= headLimit) throw new ProtocolError(`the headers are longer than ${headLimit} bytes`);
    const opening = "HTTP/1.";
    const begun = bytes.toString("latin1", start, Math.min(length, start + opening.length));
    if (!opening.startsWith(begun)) throw new ProtocolError("the answer does not begin as HTTP/1.1 does");
    this.#pending = length > start ? Buffer.from(bytes.subarray(start, length)) : undefined;
  }

  #startBody(head: ResponseHead, rest: Buffer): Answer | undefined {
    this.#head = head;
    if (head.status === 204 || head.status === 304) head.length = 0;
    else if (head.chunked) this.#body = new ChunkedBody(bodyLimit);
    else if (head.length > bodyLimit) throw new ProtocolError(`the answer is longer than ${bodyLimit} bytes`);
    else if (head.length < 0) this.#body = openBody(bodyLimit);
    else if (rest.length < head.length) this.#body = lengthBody(head.length);
    if (this.#body !== undefined) return this.#takeBody(rest, 0, rest.length);
    if (rest.length > head.length) throw new ProtocolError("bytes follow the end of the answer");
    return this.#finish(rest);
  }

  #takeBody(packet: Buffer, start: number, length: number): Answer | undefined {
    const body = this.#body as BodyReader;
    const read = body.take(packet, start, length);
    if (read < length) throw new ProtocolError("bytes follow the end of the answer");
    return body.isComplete() ? this.#finish(body.content()) : undefined;
  }

  #finish(content: Buffer): Answer {
    const head = this.#head as ResponseHead;
    this.#head = this.#body = undefined;
    if (head.length < 0 && !head.chunked) head.keepAlive = false;
    if (head.encoding !== "" && head.encoding !== "identity")
      throw new ProtocolError(`the answer is encoded as "${head.encoding.slice(0, 40)}", which was not asked for`);
    if (head.crc32 !== "" && crc32 !== undefined && String(crc32(content)) !== head.crc32)
      throw new ProtocolError("the answer does not match its checksum x-amz-crc32");
    const body = content.toString("utf8");
    // Decoding replaces what is not UTF-8 by this character. A matching checksum makes the check unnecessary.
    if (head.crc32 === "" && body.includes("\uFFFD") && !Buffer.from(body).equals(content))
      throw new ProtocolError("the answer is not UTF-8");
    return { head, body };
  }
}
