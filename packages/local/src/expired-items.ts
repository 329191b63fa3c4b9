import type { AttributeValue, Key, Transport } from "edgetable";

/** Which items have expired. */
export interface Expiry {
  readonly table: string;
  /** The attribute that holds the time to live, in seconds since 1970. */
  readonly attribute: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

// DynamoDB keeps items that expired more than five years ago: DeveloperGuide, "Time to Live".
const oldest = 5 * 365 * 24 * 3600;

/** The condition of a sweep, by which the server in front of the engine knows its Scan. */
export const SWEEP_CONDITION = "attribute_type(#ttl, :number) AND #ttl < :now AND #ttl > :oldest";

const expired = ({ attribute, now }: Expiry) => {
  const seconds = Math.floor(now / 1000);
  const values: Record<string, AttributeValue> = {
    ":number": { S: "N" },
    ":now": { N: String(seconds) },
    ":oldest": { N: String(seconds - oldest) },
  };
  return { expression: SWEEP_CONDITION, names: { "#ttl": attribute }, values };
};

/** Deletes one item, unless its time to live was extended meanwhile. */
const deleteExpired = async (transport: Transport, key: Key, expiry: Expiry): Promise<boolean> => {
  const { expression, names, values } = expired(expiry);
  try {
    await transport.send("DeleteItem", {
      TableName: expiry.table,
      Key: key,
      ConditionExpression: expression,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    });
    return true;
  } catch (error) {
    if ((error as { readonly details?: { readonly fault?: unknown } }).details?.fault === "ConditionalCheckFailedException") return false;
    throw error;
  }
};

/**
 * Deletes a table's expired items once. DynamoDB does this continuously, the embedded engine never. It reads the whole table
 * (one Scan) and sends one write for each expired item.
 *
 * @param transport to the engine that holds the table
 * @param expiry the table, its attribute, and the moment to compare with
 * @returns how many items were deleted
 * @throws {execute.tableNotFound} if there is no such table
 * @example
 * await sweepExpired(transport, { table: "Education", attribute: "expiresAt", now: Date.now() });
 */
export const sweepExpired = async (transport: Transport, expiry: Expiry): Promise<number> => {
  const { Table } = await transport.send("DescribeTable", { TableName: expiry.table });
  const keyNames = new Set((Table?.KeySchema ?? []).map((element) => element.AttributeName));
  const { expression, names: placeholders, values } = expired(expiry);
  const scan = {
    TableName: expiry.table,
    FilterExpression: expression,
    ExpressionAttributeNames: placeholders,
    ExpressionAttributeValues: values,
  };
  let deleted = 0;
  let next: Key | undefined;
  do {
    const page = await transport.send("Scan", { ...scan, ...(next && { ExclusiveStartKey: next }) });
    for (const item of page.Items ?? []) {
      const key = Object.fromEntries(Object.entries(item).filter(([name]) => keyNames.has(name)));
      if (await deleteExpired(transport, key, expiry)) deleted++;
    }
    next = page.LastEvaluatedKey;
  } while (next);
  return deleted;
};

/** Deletes the expired items of every table with a time to live. */
export const sweepTables = async (transport: Transport, now: number): Promise<void> => {
  let from: string | undefined;
  do {
    const { TableNames = [], LastEvaluatedTableName } = await transport.send(
      "ListTables",
      from === undefined ? {} : { ExclusiveStartTableName: from },
    );
    for (const table of TableNames) {
      const { TimeToLiveDescription } = await transport.send("DescribeTimeToLive", { TableName: table });
      const { TimeToLiveStatus: status, AttributeName: attribute } = TimeToLiveDescription ?? {};
      if (status === "ENABLED" && attribute !== undefined) await sweepExpired(transport, { table, attribute, now });
    }
    from = LastEvaluatedTableName;
  } while (from !== undefined);
};
