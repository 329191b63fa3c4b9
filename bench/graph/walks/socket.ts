import { connect as dial } from "node:net";
import type { Socket } from "node:net";
import { createSigner } from "../../calls/candidates/hand-written/signature.ts";

/** A bare keep-alive connection that carries one request at a time. */
interface Line {
  send(head: string, body: string): Promise<string>;
  close(): void;
}

const lengthOf = (head: string): number => Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);

const openLine = (host: string, port: number): Line => {
  const socket: Socket = dial({ host, port, noDelay: true });
  // One character for each byte: lengths are what the head says, and ids are ASCII.
  socket.setEncoding("latin1");
  let text = "";
  let end = 0;
  let resolve: (body: string) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  socket.on("error", (error) => reject(error));
  socket.on("data", (chunk) => {
    text += chunk as unknown as string;
    if (end === 0) {
      const blank = text.indexOf("\r\n\r\n");
      if (blank < 0) return;
      end = blank + 4 + lengthOf(text.slice(0, blank));
    }
    if (text.length < end) return;
    const whole = text;
    text = "";
    end = 0;
    if (whole.startsWith("HTTP/1.1 200")) resolve(whole);
    else reject(new Error(whole));
  });
  return {
    send: (head, body) =>
      new Promise((fulfil, refuse) => {
        resolve = fulfil;
        reject = refuse;
        socket.write(`${head}${body}`);
      }),
    close: () => socket.destroy(),
  };
};

export interface Lines {
  /** Sends a Query and gives the whole answer as text, head included. */
  query(body: string): Promise<string>;
  close(): void;
}

/** As many bare connections as there are requests under way: the least that HTTP and a signature cost. */
export const openLines = (endpoint: string): Lines => {
  const url = new URL(endpoint);
  const sign = createSigner({ accessKeyId: "local", secretAccessKey: "local", region: "us-east-1" }, url.host);
  const target = "DynamoDB_20120810.Query";
  const idle: Line[] = [];
  const all = new Set<Line>();
  return {
    async query(body) {
      const line = idle.pop() ?? openLine(url.hostname, Number(url.port));
      all.add(line);
      const { date, authorization } = sign(target, body);
      const head = `POST / HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-amz-date: ${date}\r\nx-amz-target: ${target}\r\nauthorization: ${authorization}\r\n\r\n`;
      const answer = await line.send(head, body);
      idle.push(line);
      return answer;
    },
    close: () => {
      for (const line of all) line.close();
    },
  };
};
