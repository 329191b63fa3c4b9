import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Tap } from "../calls.ts";

/** A client as the SDK's guide makes it; `tap` stands between the library and everything below `send`. */
export const createClient = (endpoint: string, tap?: Tap): DynamoDBClient => {
  const client = new DynamoDBClient({ endpoint, region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } });
  if (tap) Object.assign(client, { send: tap(client.send.bind(client) as (command: unknown) => Promise<unknown>) });
  return client;
};
