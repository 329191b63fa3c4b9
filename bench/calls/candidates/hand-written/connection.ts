import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { createSigner } from "./signature.ts";
import type { Signed } from "./signature.ts";

/** One signed request on its way out, as text. */
export interface Outgoing {
  readonly target: string;
  readonly body: string;
  readonly signed: Signed;
}
/** Brings a request to the service and gives the answer's text. */
export type Exchange = (outgoing: Outgoing) => Promise<string>;

class ServiceFault extends Error {}

const faultOf = (text: string): ServiceFault => {
  const fault = JSON.parse(text) as { readonly __type?: string; readonly message?: string; readonly Message?: string };
  return new ServiceFault(`${fault.__type ?? "unknown"}: ${fault.message ?? fault.Message ?? ""}`);
};

const read = (answer: IncomingMessage, resolve: (text: string) => void, reject: (error: Error) => void): void => {
  let text = "";
  answer.setEncoding("utf8");
  answer.on("data", (chunk: string) => {
    text += chunk;
  });
  answer.on("end", () => {
    if (answer.statusCode === 200) resolve(text);
    else reject(faultOf(text));
  });
  answer.on("error", reject);
};

const exchangeOver = (agent: Agent, url: URL): Exchange => {
  const fixed = { host: url.hostname, port: Number(url.port), method: "POST", path: "/", agent };
  return ({ target, body, signed }) =>
    new Promise((resolve, reject) => {
      const headers = {
        host: url.host,
        "content-type": "application/x-amz-json-1.0",
        "content-length": Buffer.byteLength(body),
        "x-amz-date": signed.date,
        "x-amz-target": target,
        authorization: signed.authorization,
      };
      const outgoing = request({ ...fixed, headers }, (answer) => read(answer, resolve, reject));
      outgoing.on("error", reject);
      outgoing.end(body);
    });
};

export interface Connection {
  /** Sends one operation, its input as JSON text, and gives the parsed answer. */
  send<Answer>(operation: string, body: string): Promise<Answer>;
  close(): void;
}

/** A keep-alive connection pool to one endpoint; every request is signed. */
export const connect = (endpoint: string, tap: (exchange: Exchange) => Exchange = (exchange) => exchange): Connection => {
  const url = new URL(endpoint);
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const sign = createSigner({ accessKeyId: "local", secretAccessKey: "local", region: "us-east-1" }, url.host);
  const exchange = tap(exchangeOver(agent, url));
  return {
    async send(operation, body) {
      const target = `DynamoDB_20120810.${operation}`;
      return JSON.parse(await exchange({ target, body, signed: sign(target, body) }));
    },
    close: () => agent.destroy(),
  };
};
