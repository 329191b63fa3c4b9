import { EdgetableError } from "../../errors/edgetable-error.ts";
import { attemptError } from "../attempt-error.ts";
import type { Attempt } from "../attempt-error.ts";
import type { CancellationReason, Item } from "../operations.ts";
import { serviceError } from "../service-error.ts";
import type { TextColumn } from "../transport.ts";
import { parseAnswer } from "./answer-json.ts";
import type { Answer } from "./response-reader.ts";

interface FaultBody {
  readonly __type?: unknown;
  readonly message?: unknown;
  readonly Message?: unknown;
  readonly Item?: Item;
  readonly CancellationReasons?: readonly CancellationReason[];
}

const parseObject = (text: string): FaultBody | undefined => {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
};

/** `com.amazonaws.dynamodb.v20120810#Name` and `Name:http://…` both stand for `Name`. */
const shortName = (type: string): string => type.slice(type.lastIndexOf("#") + 1).split(":")[0] ?? "";

const stranger = ({ head, body }: Answer): string => {
  const shown = body.slice(0, 120).replaceAll(/\s+/g, " ");
  return `HTTP ${head.status} ${head.contentType || "without a content type"}, not DynamoDB's JSON: "${shown}". Is there a proxy, or another server, at the endpoint?`;
};

/** The output in a successful answer. */
export const readOutput = (answer: Answer, attempt: Attempt, column?: TextColumn): unknown => {
  try {
    return parseAnswer(answer.body, column);
  } catch (cause) {
    throw attemptError(attempt, { code: "execute.connection", message: stranger(answer), ambiguous: true, cause });
  }
};

/** The error that an answer other than 200 stands for. */
export const readFault = (answer: Answer, attempt: Attempt): EdgetableError => {
  const { status, errorType, requestId } = answer.head;
  const body = parseObject(answer.body);
  const name = shortName(typeof body?.__type === "string" ? body.__type : errorType);
  const request = { operation: attempt.operation, input: attempt.input };
  if (body === undefined || name === "") return serviceError({ name: `Http${status}`, message: stranger(answer), status }, request);
  const text = body.message ?? body.Message;
  const message = `${typeof text === "string" && text !== "" ? text : "(no message)"}${requestId === "" ? "" : ` (request ${requestId})`}`;
  return serviceError({ name, message, status, item: body.Item, reasons: body.CancellationReasons }, request);
};

/** The same error, worth another try because its reason has been put right meanwhile. */
export const mended = (error: EdgetableError, mend: string): EdgetableError =>
  new EdgetableError(error.code, `${error.message} (${mend})`, {
    details: { ...error.details, mend },
    retryable: true,
    ...(error.request && { request: error.request }),
  });
