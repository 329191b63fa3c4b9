import { EdgetableError, joinDetails } from "../../errors/edgetable-error.ts";
import { attemptError } from "../attempt-error.ts";
import type { Attempt } from "../attempt-error.ts";
import { oddityOf } from "../check-answer.ts";
import { serviceError } from "../service-error.ts";
import type { TextColumn } from "../transport.ts";
import { parseAnswer } from "./answer-json.ts";
import type { Answer } from "./response-reader.ts";

interface FaultBody {
  readonly __type?: unknown;
  readonly message?: unknown;
  readonly Message?: unknown;
  readonly Item?: unknown;
  readonly CancellationReasons?: unknown;
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

// What is shown of a stranger's answer; DynamoDB's own may hold items, which no message shows.
const MOST_SHOWN = 120;
// DynamoDB's own messages are short; those that quote a request are cut.
const MOST_TOLD = 2000;
const MAY_HOLD_ITEMS = /"(?:Items?|Attributes|Responses|Key)"/;

const stranger = ({ head, body }: Answer, oddity?: string): string => {
  const shown = MAY_HOLD_ITEMS.test(body) ? "" : `: "${body.slice(0, MOST_SHOWN).replaceAll(/\s+/g, " ")}"`;
  const why = oddity === undefined ? "" : `, ${oddity}`;
  return `HTTP ${head.status} ${head.contentType || "without a content type"}, not DynamoDB's JSON${shown}${why}. Is there a proxy, or another server, at the endpoint?`;
};

// Amazon DynamoDB, dynoxide and DynamoDB Local send all three.
const isSigned = ({ crc32, requestId, contentType }: Answer["head"]): boolean =>
  requestId !== "" || crc32 !== "" || contentType.startsWith("application/x-amz-json");

/**
 * The output in a successful answer.
 *
 * @throws {execute.connection} where it is not DynamoDB's; the request may have been carried out all the same
 */
export const readOutput = (answer: Answer, attempt: Attempt, column?: TextColumn): unknown => {
  let cause: unknown;
  let oddity: string | undefined;
  try {
    const output = parseAnswer(answer.body, column);
    const { operation, input } = attempt;
    oddity = oddityOf({ operation, input, output, signed: isSigned(answer.head) });
    if (oddity === undefined) return output;
  } catch (error) {
    cause = error;
    oddity = (error as Error).name === "TypeError" ? (error as Error).message : undefined;
  }
  throw attemptError(attempt, { code: "execute.connection", message: stranger(answer, oddity), ambiguous: true, cause });
};

/** The error that an answer other than 200 stands for. */
export const readFault = (answer: Answer, attempt: Attempt): EdgetableError => {
  const { status, errorType, requestId } = answer.head;
  const body = parseObject(answer.body);
  const name = shortName(typeof body?.__type === "string" ? body.__type : errorType);
  const request = { operation: attempt.operation, input: attempt.input };
  if (body === undefined || name === "") {
    if (status >= 500 || requestId !== "") return serviceError({ name: `Http${status}`, message: stranger(answer), status }, request);
    return attemptError(attempt, { code: "execute.connection", message: stranger(answer), ambiguous: true });
  }
  const text = body.message ?? body.Message;
  const message = `${typeof text === "string" && text !== "" ? text.slice(0, MOST_TOLD) : "(no message)"}${requestId === "" ? "" : ` (request ${requestId})`}`;
  return serviceError({ name, message, status, item: body.Item, reasons: body.CancellationReasons }, request);
};

/** The same error, worth another try because its reason has been put right meanwhile. */
export const mended = (error: EdgetableError, mend: string): EdgetableError =>
  new EdgetableError(error.code, `${error.message} (${mend})`, {
    details: joinDetails(error.details, { mend }),
    retryable: true,
    ...(error.request && { request: error.request }),
  });
