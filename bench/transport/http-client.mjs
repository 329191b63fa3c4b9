/** The same as the lean transport as far as it can be had on node:http: own SigV4, keep-alive agent, JSON. */
import { createHmac, hash } from "node:crypto";
import { Agent, request } from "node:http";
import { request as secureRequest } from "node:https";

const hmac = (key, text) => createHmac("sha256", key).update(text).digest();
const names = "content-type;host;x-amz-date;x-amz-target";
const type = "application/x-amz-json-1.0";

const createSigner = (host) => {
  let day = "";
  let key;
  return (operation, body) => {
    const stamp = `${new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
    if (stamp.slice(0, 8) !== day) {
      day = stamp.slice(0, 8);
      key = ["us-east-1", "dynamodb", "aws4_request"].reduce(hmac, hmac("AWS4local", day));
    }
    const scope = `${day}/us-east-1/dynamodb/aws4_request`;
    const target = `DynamoDB_20120810.${operation}`;
    const canonical = `POST\n/\n\ncontent-type:${type}\nhost:${host}\nx-amz-date:${stamp}\nx-amz-target:${target}\n\n${names}\n${hash("sha256", body, "hex")}`;
    const signature = createHmac("sha256", key)
      .update(`AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${hash("sha256", canonical, "hex")}`)
      .digest("hex");
    const authorization = `AWS4-HMAC-SHA256 Credential=local/${scope}, SignedHeaders=${names}, Signature=${signature}`;
    return {
      host,
      "content-type": type,
      "x-amz-date": stamp,
      "x-amz-target": target,
      authorization,
      "content-length": Buffer.byteLength(body),
    };
  };
};

export const httpClient = (endpoint, agent = new Agent({ keepAlive: true, maxSockets: 64, scheduling: "lifo" })) => {
  const { host, hostname, port, protocol } = new URL(endpoint);
  const open = protocol === "https:" ? secureRequest : request;
  const sign = createSigner(host);
  return (operation, input) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(input);
      const sent = open(
        { agent, hostname, port, method: "POST", path: "/", headers: sign(operation, body), setHost: false, joinDuplicateHeaders: true },
        (response) => {
          const chunks = [];
          response.on("data", (chunk) => chunks.push(chunk));
          response.on("end", () => {
            const text = (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString();
            if (response.statusCode === 200) resolve(JSON.parse(text));
            else reject(new Error(text));
          });
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
};
