import { holdsRecords, streamOddityOf, type StreamTransport } from "../stream-operations.ts";
import { type LeanTransportOptions, streamSettings } from "./lean-transport.ts";
import { openStreamTransport } from "./open-transport.ts";

const parse = (body: string): unknown => {
  const output: unknown = JSON.parse(body);
  if (!holdsRecords(output)) throw new TypeError("a record holds what is not an item");
  return output;
};

/**
 * A transport of DynamoDB Streams: the lean transport's sockets, signatures and errors, at
 * `streams.dynamodb.REGION.amazonaws.com` or, on a local engine, at the table's own endpoint.
 *
 * @param options as of the table's transport; an `endpoint` of DynamoDB in AWS is changed to the one of its streams.
 * Configured endpoints are AWS_ENDPOINT_URL_DYNAMODB_STREAMS, then those of the table
 * @throws {plan.invalidOption} {execute.credentials} as `createLeanTransport` does
 */
export const createLeanStreamTransport = (options: LeanTransportOptions = {}): StreamTransport =>
  openStreamTransport(streamSettings(options), { target: "DynamoDBStreams_20120810.", parse, oddityOf: streamOddityOf });
