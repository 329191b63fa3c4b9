import zlib from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Answer, ProtocolError, ResponseReader } from "./response-reader.ts";

/** Reads packets through one buffer that is used again and again, as sockets do. */
const readPackets = (packets: readonly Buffer[], reader: ResponseReader = new ResponseReader()): Answer[] => {
  const shared = Buffer.alloc(65_536, "x");
  const answers: Answer[] = [];
  for (const packet of packets) {
    packet.copy(shared);
    const answer = reader.take(shared, packet.length);
    if (answer !== undefined) answers.push(answer);
  }
  return answers;
};
const readText = (text: string): Answer[] => readPackets([Buffer.from(text)]);

const split = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
};

const chunk = (text: string, extension: string): string => `${Buffer.byteLength(text).toString(16)}${extension}\r\n${text}\r\n`;
const withLength = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\nx-amz-crc32: ${zlib.crc32(body)}\r\n\r\n${body}`;
const inChunks = (parts: readonly string[], extension: string): string =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${parts
    .filter((part) => part !== "")
    .map((part) => chunk(part, extension))
    .join("")}0\r\nx-trailer: y\r\n\r\n`;

const bodyText = fc.string({ unit: "binary", maxLength: 300 }).map((text) => Buffer.from(text).toString());
const cuts = fc.array(fc.nat(2000), { maxLength: 30 });

describe("reading", () => {
  test("a response of known length comes out the same, however it is split", () => {
    fc.assert(
      fc.property(bodyText, cuts, (body, places) => {
        expect(readPackets(split(Buffer.from(withLength(body)), places)).map((answer) => answer.body)).toEqual([body]);
      }),
    );
  });

  test("a chunked response comes out the same, however it is split", () => {
    fc.assert(
      fc.property(
        fc.array(bodyText, { maxLength: 5 }),
        fc.constantFrom("", ";a=b", '; name="x"', " "),
        cuts,
        (parts, extension, places) => {
          expect(readPackets(split(Buffer.from(inChunks(parts, extension)), places)).map((answer) => answer.body)).toEqual([
            parts.join(""),
          ]);
        },
      ),
    );
  });

  test("one byte at a time is enough", () => {
    const bytes = Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${withLength('{"a":"ü"}')}`);
    expect(readPackets(Array.from(bytes, (byte) => Buffer.from([byte]))).map((answer) => answer.body)).toEqual(['{"a":"ü"}']);
  });

  test("responses one after another on a connection are each read", () => {
    const reader = new ResponseReader();
    const packets = [withLength("1"), inChunks(["2"], ""), "HTTP/1.1 204 No Content\r\n\r\n", withLength("3")].map((text) =>
      Buffer.from(text),
    );
    expect(readPackets(packets, reader).map((answer) => answer.body)).toEqual(["1", "2", "", "3"]);
    expect(reader.partial).toBe(false);
  });

  test("the headers that matter are found in any case, with any white space", () => {
    const [answer] = readText(
      "HTTP/1.1 400 Bad Request\r\nSERVER:x\r\nDATE:  Sat, 21 Nov 2026 04:46:29 GMT \r\nX-Amzn-RequestId:R1\r\nX-AMZN-ERRORTYPE: E\r\nContent-Type:a/b\r\nConnection: Close\r\ncontent-length: 2\r\n\r\n{}",
    );
    expect(answer?.head).toMatchObject({
      status: 400,
      date: "Sat, 21 Nov 2026 04:46:29 GMT",
      requestId: "R1",
      errorType: "E",
      contentType: "a/b",
      keepAlive: false,
    });
  });

  test.each([
    ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", true],
    ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false],
    ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n", true],
    ["HTTP/1.1 200\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", false],
    ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", false],
    ["HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", true],
  ])("%j leaves the connection reusable: %s", (text, keepAlive) => {
    expect(readText(text)).toMatchObject([{ body: "", head: { keepAlive } }]);
  });

  test("a body without a length ends with the connection, which is not reused", () => {
    const reader = new ResponseReader();
    expect(readPackets([Buffer.from("HTTP/1.1 200 OK\r\n\r\n{"), Buffer.from("}")], reader)).toEqual([]);
    expect(reader.end()).toMatchObject({ body: "{}", head: { keepAlive: false } });
  });

  test("the end of the connection does not complete any other body", () => {
    for (const text of [
      "",
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
    ]) {
      const reader = new ResponseReader();
      readPackets([Buffer.from(text)], reader);
      expect(reader.end()).toBeUndefined();
    }
  });
});

describe("refusing", () => {
  test.each([
    ["another protocol", "SSH-2.0-OpenSSH\r\n"],
    ["TLS bytes", "\u0015\u0003\u0001"],
    ["HTTP/2", "HTTP/2.0 200 OK\r\n\r\n"],
    ["no status", "HTTP/1.1 OK\r\n\r\n"],
    ["a status out of range", "HTTP/1.1 999 Odd\r\n\r\n"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["a header without a colon", "HTTP/1.1 200 OK\r\nbroken\r\n\r\n"],
    ["a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["a folded header", "HTTP/1.1 200 OK\r\na: b\r\n c: d\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}"],
    ["a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"],
    ["a length in words", "HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\n"],
    ["a length beyond the limit", "HTTP/1.1 200 OK\r\ncontent-length: 67108865\r\n\r\n"],
    ["an unknown transfer encoding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n"],
    ["a content encoding", "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}"],
    ["a wrong checksum", "HTTP/1.1 200 OK\r\nx-amz-crc32: 1\r\ncontent-length: 2\r\n\r\n{}"],
    ["another protocol by upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["bytes after the end", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}{}"],
    ["bytes after the last chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nmore"],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n"],
    ["a chunk longer than its size", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{}\r\n"],
    ["a chunk line without CR", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\n{}"],
    ["a chunk beyond all sizes", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}"],
    ["endless headers", `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(20_000)}`],
    ["an endless chunk extension", `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;${"x".repeat(20_000)}`],
    ["endless trailers", `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${"a: b\r\n".repeat(20_000)}`],
  ])("%s is a protocol error", (_, text) => {
    const packets = split(
      Buffer.from(text, "latin1"),
      Array.from({ length: 100 }, (_each, index) => index * 1200),
    );
    expect(() => readPackets(packets)).toThrow(ProtocolError);
  });

  test("a body without end is given up at the limit", () => {
    const reader = new ResponseReader();
    const packet = Buffer.alloc(65_536, "x");
    readPackets([Buffer.from("HTTP/1.1 200 OK\r\n\r\n")], reader);
    const readAll = (): void => {
      for (let packets = 0; packets < 1100; packets++) reader.take(packet, packet.length);
    };
    expect(readAll).toThrow(ProtocolError);
  });

  test("garbage, and responses with bytes changed, give answers or protocol errors and nothing else", () => {
    const pieces = fc.constantFrom(
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 ",
      "\r\n",
      "\r\n\r\n",
      "content-length: 3\r\n",
      "transfer-encoding: chunked\r\n",
      "3\r\n",
      "0\r\n",
      "{}",
      ":",
      "\n",
      "\u0000",
      "100 Continue",
    );
    const text = fc.oneof(
      fc.array(pieces, { maxLength: 15 }).map((parts) => Buffer.from(parts.join(""))),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    );
    const changed = fc
      .tuple(fc.constantFrom(withLength('{"a":1}'), inChunks(["{}", " "], ";x")), fc.nat(500), fc.nat(255))
      .map(([whole, place, byte]) => {
        const bytes = Buffer.from(whole);
        bytes[place % bytes.length] = byte;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(text, changed), cuts, (bytes, places) => {
        const reader = new ResponseReader();
        try {
          readPackets(split(bytes, places), reader);
          reader.end();
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
