import { request } from "node:http";
import { connect, createServer } from "node:net";
import { EdgetableError } from "edgetable";

export const host = "127.0.0.1";

/** A loopback port that was free a moment ago: whoever takes it must be ready to lose the race. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

/** Whether anything accepts connections on a loopback port. */
export const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 500 });
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
export const listTables = (port: number, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const call = request({ host, port, method: "POST", path: "/", headers, agent: false, signal }, (answer) => {
      answer.resume();
      const version = answer.headers["x-dynoxide-version"] ?? answer.headers.server ?? "unknown";
      if (answer.statusCode === 200) answer.once("end", () => resolve(String(version)));
      else reject(new EdgetableError("local.engineFailed", `The engine answered ListTables with status ${answer.statusCode}.`));
      answer.once("error", reject);
    });
    call.once("error", reject);
    call.end('{"Limit":1}');
  });
