import { holdsRecords, streamOddityOf, type StreamTransport } from "../stream-operations.ts";
import { type LeanTransportOptions, settle } from "./lean-transport.ts";
import { type LeanSettings, openStreamTransport } from "./open-transport.ts";
import { configuredEndpoint, serviceEndpoint } from "./surroundings.ts";

/**
 * The endpoint of DynamoDB Streams beside one of DynamoDB: AWS has a host of its own for it, and local engines answer both
 * at one port.
 */
export const streamEndpoint = (url: string): string =>
  url.replace(/^(https?:\/\/)(dynamodb(?:-fips)?\.[^/]*\.(?:amazonaws|sc2s|c2s|csp|cloud)\.)/, "$1streams.$2");

/** Checked settings of a lean transport of DynamoDB Streams. */
const streamSettings = (options: LeanTransportOptions): LeanSettings =>
  settle(
    { ...options, ...(options.endpoint !== undefined && { endpoint: streamEndpoint(options.endpoint) }) },
    {
      configured: (profile) => {
        const own = configuredEndpoint(profile, process.env, "DYNAMODB_STREAMS");
        const beside = own ?? configuredEndpoint(profile);
        return beside && { ...beside, url: streamEndpoint(beside.url) };
      },
      inRegion: (region) => streamEndpoint(serviceEndpoint(region)),
    },
  );

const parse = (body: string): unknown => {
  const output: unknown = JSON.parse(body);
  if (!holdsRecords(output)) throw new TypeError("a record holds something that is not an item");
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
