import { isEdgetableError, type Transport } from "edgetable";
import { usageError } from "../failure.ts";
import { sendPatiently } from "../send-patiently.ts";
import type { RawItem, SampledIndex, SampledTable } from "./sample.ts";

/** How much of a table has been read. */
export interface SampleProgress {
  readonly items: number;
  /** Items of the whole table, as DynamoDB counts them every six hours. */
  readonly ofItems: number | undefined;
  readonly units: number;
}

/** A table with a sample of its items, and what reading it cost. */
export interface Sampled extends SampleProgress {
  readonly table: SampledTable;
  /** True if the sample is the whole table. */
  readonly complete: boolean;
}

type Description = NonNullable<Awaited<ReturnType<typeof describe>>>;

const describe = async (transport: Transport, name: string, signal: AbortSignal) => {
  try {
    return (await sendPatiently(transport, "DescribeTable", { TableName: name }, signal)).Table;
  } catch (error) {
    if (isEdgetableError(error, "execute.tableNotFound"))
      throw usageError(`There is no table "${name}" there. Check its name, and --endpoint, --region and --profile.`);
    throw error;
  }
};

/** The answer of a request that an engine, or the permissions of the caller, may not allow. */
const ifAllowed = async <T>(request: Promise<T>): Promise<T | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (isEdgetableError(error) && error.code !== "execute.aborted" && error.code !== "execute.connection") return undefined;
    throw error;
  }
};

const keysOf = (schema: Description["KeySchema"] = []): Pick<SampledIndex, "partitionKey" | "sortKey"> => {
  const of = (type: string): SampledIndex["sortKey"] => {
    const names = schema.flatMap(({ AttributeName, KeyType }) => (KeyType === type ? [AttributeName] : []));
    return names.length > 1 ? names : names[0];
  };
  const sortKey = of("RANGE");
  return { partitionKey: of("HASH") ?? "", ...(sortKey === undefined ? {} : { sortKey }) };
};

const indexesOf = ({ GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] }: Description): Readonly<Record<string, SampledIndex>> =>
  Object.fromEntries(
    [...GlobalSecondaryIndexes, ...LocalSecondaryIndexes].map(({ IndexName = "", KeySchema, Projection }) => {
      const { ProjectionType = "ALL", NonKeyAttributes = [] } = Projection ?? {};
      const projection = ProjectionType === "INCLUDE" ? [...NonKeyAttributes] : (ProjectionType as "ALL" | "KEYS_ONLY");
      return [IndexName, { ...keysOf(KeySchema), ...(projection === "ALL" ? {} : { projection }) }];
    }),
  );

const typesOf = ({ AttributeDefinitions = [] }: Description): SampledTable["types"] =>
  Object.fromEntries(
    AttributeDefinitions.flatMap(({ AttributeName = "", AttributeType }) =>
      AttributeType === "N" || AttributeType === "B" ? [[AttributeName, AttributeType] as const] : [],
    ),
  );

// The engines read all remaining rows for a page without a limit.
const PAGE = 500;

/**
 * Describes a table and reads items of it by Scan, until the sample is full or the table ends.
 *
 * @param sample the most items, 1 or more
 */
export const sampleTable = async (
  transport: Transport,
  name: string,
  {
    sample,
    signal,
    onProgress,
  }: { readonly sample: number; readonly signal: AbortSignal; readonly onProgress: (progress: SampleProgress) => void },
): Promise<Sampled> => {
  const description = await describe(transport, name, signal);
  if (!description) throw usageError(`There is no table "${name}" there.`);
  const expiry = await ifAllowed(sendPatiently(transport, "DescribeTimeToLive", { TableName: name }, signal));
  const backups = await ifAllowed(sendPatiently(transport, "DescribeContinuousBackups", { TableName: name }, signal));
  const ofItems = description.ItemCount;
  const items: RawItem[] = [];
  let units = 0;
  let start: RawItem | undefined;
  do {
    const page = await sendPatiently(
      transport,
      "Scan",
      {
        TableName: name,
        Limit: Math.min(PAGE, sample - items.length),
        ReturnConsumedCapacity: "TOTAL",
        ...(start ? { ExclusiveStartKey: start } : {}),
      },
      signal,
    );
    items.push(...((page.Items ?? []) as readonly RawItem[]));
    units += page.ConsumedCapacity?.CapacityUnits ?? 0;
    start = page.LastEvaluatedKey;
    onProgress({ items: items.length, ofItems, units });
  } while (start && items.length < sample);
  const status = expiry?.TimeToLiveDescription;
  const ttl = status?.TimeToLiveStatus === "ENABLED" || status?.TimeToLiveStatus === "ENABLING" ? status.AttributeName : undefined;
  const recovery = backups?.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
  const table: SampledTable = {
    name,
    ...(keysOf(description.KeySchema) as Pick<SampledTable, "partitionKey" | "sortKey">),
    types: typesOf(description),
    indexes: indexesOf(description),
    ...(ttl === undefined ? {} : { ttl }),
    settings: {
      ...(description.StreamSpecification?.StreamEnabled === true && description.StreamSpecification.StreamViewType === "NEW_AND_OLD_IMAGES"
        ? { stream: true }
        : {}),
      ...(description.DeletionProtectionEnabled === true ? { deletionProtection: true } : {}),
      ...(recovery === "ENABLED" ? { pointInTimeRecovery: true } : {}),
    },
    items,
  };
  return { table, items: items.length, ofItems, units, complete: start === undefined };
};
