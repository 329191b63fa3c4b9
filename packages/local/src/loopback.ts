import { randomInt } from "node:crypto";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { EdgetableError } from "edgetable";

export const host = "127.0.0.1";

/** Where something listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const freePort = (host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

/** 127.0.0.1, with a port that was free a moment ago. */
export const freeAddress = async (): Promise<Address> => ({ host, port: await freePort(host) });

/**
 * An address for the bare engine, which answers every web page: one of the 16 million of loopback, so that no page finds
 * it by trying. macOS has 127.0.0.1 alone. The port was free a moment ago: whoever takes it must be ready to lose the race.
 */
export const hiddenAddress = async (): Promise<Address> => {
  const hidden = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
  try {
    return { host: hidden, port: await freePort(hidden) };
  } catch {
    return freeAddress();
  }
};

/** Whether anything accepts connections on a loopback address. */
export const accepts = (address: Address): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ ...address, timeout: 500 });
    const settle = (result: boolean) => (): void => {
      socket.destroy();
      resolve(result);
    };
    // After a standstill of this process the timer rings before the connection is seen, which is there by the next turn.
    const giveUp = (): void => void setImmediate(settle(false));
    socket.once("connect", settle(true)).once("error", settle(false)).once("timeout", giveUp);
  });

// The engine checks neither signature nor date, but wants both headers well formed (docs/engines.md).
const headers = {
  "content-type": "application/x-amz-json-1.0",
  "x-amz-target": "DynamoDB_20120810.ListTables",
  "x-amz-date": "20260101T000000Z",
  authorization: "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0",
};

/** Sends one real ListTables and gives the engine's version as its answer states it, else "unknown". */
export const listTables = (address: Address, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const call = request({ ...address, method: "POST", path: "/", headers, agent: false, signal }, (answer) => {
      answer.resume();
      const version = answer.headers["x-dynoxide-version"] ?? answer.headers.server ?? "unknown";
      if (answer.statusCode === 200) answer.once("end", () => resolve(String(version)));
      else reject(new EdgetableError("local.engineFailed", `The engine answered ListTables with status ${answer.statusCode}.`));
      answer.once("error", reject);
    });
    call.once("error", reject);
    call.end('{"Limit":1}');
  });
