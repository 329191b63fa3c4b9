import { paginateQuery } from "@aws-sdk/lib-dynamodb";
import { createDocumentClient } from "../../calls/candidates/document-client.ts";
import { walkLayers } from "./layers.ts";
import type { ReadEdges } from "./layers.ts";
import type { Walker, WalkPlace } from "./walk.ts";

/** The SDK's DocumentClient, paginated as its documentation does it, with the same walk and as many requests under way. */
export const connect = ({ endpoint, table, edge }: WalkPlace): Walker => {
  const client = createDocumentClient(endpoint);
  const keys = { out: { partition: "pk", sort: "sk" }, in: { IndexName: "reverse", partition: "gsi1pk", sort: "gsi1sk" } };
  const read: ReadEdges = async (node, side, found) => {
    const { partition, sort, ...index } = keys[side];
    const query = {
      ...index,
      TableName: table,
      KeyConditionExpression: `${partition} = :node AND begins_with(${sort}, :edge)`,
      ProjectionExpression: sort,
      ExpressionAttributeValues: { ":node": node, ":edge": `${edge}#` },
    };
    let pages = 0;
    for await (const page of paginateQuery({ client }, query)) {
      for (const item of page.Items ?? []) found((item[sort] as string).split("#").at(-1) as string);
      pages++;
    }
    return pages;
  };
  return { walk: (neighbourhood) => walkLayers(read, neighbourhood), close: () => client.destroy() };
};
