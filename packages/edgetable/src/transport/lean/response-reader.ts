import { chunkedBody, lengthBody, openBody } from "./response-body.ts";
import type { BodyReader } from "./response-body.ts";
import { parseResponseHead, ProtocolError } from "./response-head.ts";
import type { ResponseHead } from "./response-head.ts";
import { checksumMatches } from "./checksum.ts";

/** A whole HTTP response. */
export interface Answer {
  readonly head: ResponseHead;
  readonly body: string;
}

// Heads of DynamoDB are about 250 bytes; this is what one look at a packet turns into text.
const usualHead = 1024;
const headLimit = 65_536;
// A response of DynamoDB is at most 16 MB (BatchGetItem, BatchGetItem.html).
const bodyLimit = 67_108_864;

const hasBody = (status: number): boolean => status !== 204 && status !== 304;

/**
 * Reads one HTTP/1.1 response after another from the packets of one connection, however they are
 * split. The usual case, a whole response in one packet, copies nothing.
 */
export class ResponseReader {
  #pending: Buffer | undefined;
  #head: ResponseHead | undefined;
  #body: BodyReader | undefined;

  /** Whether some but not all of a response has come. */
  get partial(): boolean {
    return this.#pending !== undefined || this.#head !== undefined;
  }

  /**
   * Takes the first `length` bytes of a packet; gives the response once it is complete.
   *
   * @throws ProtocolError when the bytes are no response, too long, or go on after its end.
   */
  take(packet: Buffer, length: number): Answer | undefined {
    if (this.#body !== undefined) return this.#takeBody(packet, 0, length);
    if (this.#pending === undefined) return this.#takeHead(packet, length);
    const joined = Buffer.concat([this.#pending, packet.subarray(0, length)]);
    this.#pending = undefined;
    return this.#takeHead(joined, joined.length);
  }

  /** Tells that the connection ended; gives the response when that is what ends it. */
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
    if (!hasBody(head.status)) head.length = 0;
    else if (head.chunked) this.#body = chunkedBody(bodyLimit);
    else if (head.length > bodyLimit) throw new ProtocolError(`the answer is longer than ${bodyLimit} bytes`);
    else if (head.length < 0) this.#body = openBody(bodyLimit);
    else if (rest.length < head.length) this.#body = lengthBody(head.length);
    if (this.#body !== undefined) return this.#takeBody(rest, 0, rest.length);
    if (rest.length > head.length) throw new ProtocolError("bytes go on after the end of the answer");
    return this.#finish(rest);
  }

  #takeBody(packet: Buffer, start: number, length: number): Answer | undefined {
    const body = this.#body as BodyReader;
    const read = body.take(packet, start, length);
    if (read < length) throw new ProtocolError("bytes go on after the end of the answer");
    return body.isComplete() ? this.#finish(body.content()) : undefined;
  }

  #finish(content: Buffer): Answer {
    const head = this.#head as ResponseHead;
    this.#head = this.#body = undefined;
    if (head.length < 0 && !head.chunked) head.keepAlive = false;
    if (head.encoding !== "" && head.encoding !== "identity")
      throw new ProtocolError(`the answer is encoded as "${head.encoding.slice(0, 40)}", which was not asked for`);
    if (head.crc32 !== "" && !checksumMatches(content, head.crc32))
      throw new ProtocolError("the answer does not match its checksum x-amz-crc32");
    const body = content.toString("utf8");
    // The replacement character stands for what is not UTF-8. Bytes that match their checksum are as the service sent them.
    if (head.crc32 === "" && body.includes("\uFFFD") && !Buffer.from(body).equals(content))
      throw new ProtocolError("the answer is not UTF-8");
    return { head, body };
  }
}
