import { ProtocolError } from "./response-head.ts";

/** Takes the bytes of a body as they come. */
export interface BodyReader {
  /** Takes bytes from `start` on and gives how far it read; short of `end` only when it is complete. */
  take(bytes: Buffer, start: number, end: number): number;
  isComplete(): boolean;
  /** Whether the end of the connection ends the body. */
  readonly endsWithConnection: boolean;
  content(): Buffer;
}

/** A body of a known number of bytes. */
export const lengthBody = (length: number): BodyReader => {
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

/** Copies of pieces, up to a limit: the buffer that sockets read into is used again for the next packet. */
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

/** A body that goes on until the connection ends. */
export const openBody = (limit: number): BodyReader => {
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
// One size line with its extensions, or all trailers together.
const lineLimit = 16_384;

/** A chunked body; extensions and trailers are read and left aside (RFC 9112, section 7.1). */
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

export const chunkedBody = (limit: number): BodyReader => new ChunkedBody(limit);
