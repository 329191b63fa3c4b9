import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { Tap } from "../calls.ts";
import { createClient } from "./sdk-client.ts";

/** The DocumentClient that lib-dynamodb's users and two of the libraries work with. */
export const createDocumentClient = (endpoint: string, tap?: Tap): DynamoDBDocumentClient => {
  const client = DynamoDBDocumentClient.from(createClient(endpoint));
  if (tap) Object.assign(client, { send: tap(client.send.bind(client) as (command: unknown) => Promise<unknown>) });
  return client;
};
