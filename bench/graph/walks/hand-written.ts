import { walkLayers } from "./layers.ts";
import type { ReadEdges } from "./layers.ts";
import { openLines } from "./socket.ts";
import type { Walker, WalkPlace } from "./walk.ts";

interface Page {
  readonly Items: readonly object[];
  readonly LastEvaluatedKey: object;
}

const last = '"LastEvaluatedKey":';

/**
 * What a good engineer writes for walks over one table when nothing else counts: bare sockets, one
 * template a direction, of each edge the far id alone, and that cut out of the answer's text. It knows
 * that ids are digits. No retries, no budgets, no validation.
 */
export const connect = ({ endpoint, table, edge }: WalkPlace): Walker => {
  const lines = openLines(endpoint);
  const bodyOf = (index: string, partition: string, sort: string) => (node: string, from: string) =>
    `{"TableName":"${table}",${index}"KeyConditionExpression":"${partition} = :p AND begins_with(${sort}, :s)","ProjectionExpression":"${sort}","ExpressionAttributeValues":{":p":{"S":"${node}"},":s":{"S":"${edge}#"}}${from}}`;
  const bodies = { out: bodyOf("", "pk", "sk"), in: bodyOf('"IndexName":"reverse",', "gsi1pk", "gsi1sk") };
  // A far end stands at the end of the sort key, after the order value where there is one.
  const mark = `":"${edge}#`;
  const cut = (rows: string, found: (id: string) => void): void => {
    for (let at = rows.indexOf(mark); at >= 0; at = rows.indexOf(mark, at)) {
      const end = rows.indexOf('"', at + mark.length);
      found(rows.slice(rows.lastIndexOf("#", end) + 1, end));
      at = end;
    }
  };
  const read: ReadEdges = async (node, side, found) => {
    for (let pages = 1, from = ""; ; pages++) {
      const answer = await lines.query(bodies[side](node, from));
      if (!answer.includes(last)) {
        cut(answer, found);
        return pages;
      }
      const { Items, LastEvaluatedKey } = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) as Page;
      cut(JSON.stringify(Items), found);
      from = `,"ExclusiveStartKey":${JSON.stringify(LastEvaluatedKey)}`;
    }
  };
  return { walk: (neighbourhood) => walkLayers(read, neighbourhood), close: () => lines.close() };
};
