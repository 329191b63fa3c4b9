import {
  createLeanTransport,
  EdgetableError,
  type Operation,
  type OperationInputs,
  type QueryInput,
  type QueryOutput,
  type Transport,
} from "edgetable";
import { compareBytes } from "./begins-with.ts";

/**
 * The one place that knows the faults of dynoxide 1.2.1. Everything above is written for what AWS
 * documents; README.md lists each fault, what is done here, and what cannot be done.
 */

// Without a Limit the engine reads all remaining rows for each page: 2.1 s a page at 1 M items, 95 ms
// with this one (docs/engines.md). A page may always end early, so adding it changes no answer.
const pageLimit = 2_000;

const expressions = ["ConditionExpression", "FilterExpression", "KeyConditionExpression", "ProjectionExpression", "UpdateExpression"];

const carriers = (input: object): readonly object[] => {
  const { TransactItems = [], RequestItems = {} } = input as { readonly TransactItems?: readonly object[]; readonly RequestItems?: object };
  return [
    input,
    ...TransactItems.flatMap((item) => Object.values(item) as readonly object[]),
    ...(Object.values(RequestItems) as readonly object[]),
  ];
};

/** A raw multi-byte character in an expression ends the engine's process; AWS answers what is thrown here. */
const refuseMultibyte = (operation: string, input: object): void => {
  for (const carrier of carriers(input)) {
    for (const name of expressions) {
      const text: unknown = (carrier as Readonly<Record<string, unknown>>)[name];
      const found = typeof text === "string" ? /\P{ASCII}/u.exec(text) : null;
      if (!found) continue;
      throw new EdgetableError(
        "execute.rejected",
        `${operation}: ${name} contains ${JSON.stringify(found[0])} at position ${found.index}: names and values outside ASCII go into an expression through placeholders (#name, :value).`,
        {
          details: { fault: "ValidationException", status: 400, expression: text, ambiguous: false },
          request: { operation, input },
        },
      );
    }
  }
};

const isRead = (operation: Operation): boolean => operation === "Query" || operation === "Scan";

const withLimit = <O extends Operation>(operation: O, input: OperationInputs[O]): OperationInputs[O] =>
  isRead(operation) && (input as QueryInput).Limit === undefined ? { ...input, Limit: pageLimit } : input;

const guarded = <O extends Operation>(operation: O, input: OperationInputs[O]): OperationInputs[O] =>
  withLimit(operation, operation === "Query" ? (compareBytes(input as QueryInput) as typeof input) : input);

const hasNoSortKey = (key: object | undefined): boolean => key !== undefined && Object.keys(key).length === 1;

/**
 * In a table without a sort key a Query has one item at most. The engine offers a next page all the
 * same and answers it with the same item again, for ever; there the first page is all, and what
 * comes after the item is nothing.
 */
const endOnePage = (input: QueryInput, output: QueryOutput): QueryOutput => {
  if (input.IndexName !== undefined) return output;
  const { LastEvaluatedKey, ...page } = output;
  if (hasNoSortKey(input.ExclusiveStartKey)) return { ...page, ...(page.Items && { Items: [] }), Count: 0, ScannedCount: 0 };
  return hasNoSortKey(LastEvaluatedKey) ? page : output;
};

/**
 * A transport to the embedded engine that answers as AWS documents, where the engine itself does not.
 *
 * @param engine the engine, or the endpoint of a dynoxide 1.2.1 that runs already
 * @param inner sends the requests. @default a lean transport to the engine's endpoint; closed with this one
 * @throws {execute.rejected} on sending an expression with a raw multi-byte character.
 * @example
 * const engine = await startEngine();
 * const transport = createLocalTransport(engine);
 */
export const createLocalTransport = (
  engine: { readonly endpoint: string },
  inner: Transport = createLeanTransport({ endpoint: engine.endpoint }),
): Transport => ({
  send: async (operation, input, options) => {
    refuseMultibyte(operation, input);
    const output = await inner.send(operation, guarded(operation, input), options);
    return operation === "Query" ? (endOnePage(input as QueryInput, output as QueryOutput) as typeof output) : output;
  },
  close: () => inner.close(),
});
