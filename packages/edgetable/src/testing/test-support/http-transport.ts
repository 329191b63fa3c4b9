import { Agent, request } from "node:http";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Operation, OperationInputs, OperationOutputs } from "../../transport/operations.ts";
import { serviceError } from "../../transport/service-error.ts";
import type { Transport } from "../../transport/transport.ts";

const authorization =
  "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00";

interface Answer {
  readonly status: number;
  readonly text: string;
}

const post = (agent: Agent, endpoint: string, call: { operation: string; body: string }): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = {
      "Content-Type": "application/x-amz-json-1.0",
      "X-Amz-Target": `DynamoDB_20120810.${call.operation}`,
      "X-Amz-Date": "20260101T000000Z",
      Authorization: authorization,
    };
    const sent = request(endpoint, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    sent.on("error", reject);
    sent.end(call.body);
  });

const rejection = (operation: Operation, input: unknown, answer: Answer): EdgetableError => {
  const body = JSON.parse(answer.text) as Record<string, unknown>;
  const name = String(body["__type"]).split("#").at(-1) ?? "";
  const message = String(body["message"] ?? body["Message"] ?? "");
  const reasons = body["CancellationReasons"] as readonly { Code?: string }[] | undefined;
  return serviceError({ name, message, status: answer.status, reasons }, { operation, input });
};

/** An unsigned transport for the tests of this folder alone. */
export const httpTransport = (endpoint: string): Transport => {
  const agent = new Agent({ keepAlive: true });
  const send = async <O extends Operation>(operation: O, input: OperationInputs[O]): Promise<OperationOutputs[O]> => {
    const answer = await post(agent, endpoint, { operation, body: JSON.stringify(input) });
    if (answer.status !== 200) throw rejection(operation, input, answer);
    return JSON.parse(answer.text) as OperationOutputs[O];
  };
  return { send, close: () => agent.destroy() };
};
