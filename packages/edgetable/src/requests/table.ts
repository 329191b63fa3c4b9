import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Catalog, keyAttributes, type Index } from "../schema/catalog.ts";
import { keyType } from "../schema/layout.ts";
import type {
  CreateTableInput,
  GlobalSecondaryIndex,
  IndexDescription,
  KeySchemaElement,
  OperationOutputs,
  Projection,
  TableDescription,
  UpdateTableInput,
} from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";

const keySchema = ({ partitionKeys, sortKeys }: Index): readonly KeySchemaElement[] => [
  ...partitionKeys.map((AttributeName) => ({ AttributeName, KeyType: "HASH" as const })),
  ...sortKeys.map((AttributeName) => ({ AttributeName, KeyType: "RANGE" as const })),
];

const projection = (index: Index): Projection =>
  typeof index.projection === "string"
    ? { ProjectionType: index.projection }
    : { ProjectionType: "INCLUDE", NonKeyAttributes: index.projection };

const secondaryIndex = (index: Index): GlobalSecondaryIndex => ({
  IndexName: defined(index.name, "index name"),
  KeySchema: keySchema(index),
  Projection: projection(index),
});

/** The images that a stream must record: the old and the new one. */
export const IMAGES = "NEW_AND_OLD_IMAGES";

/** The CreateTable of a model: the table with all its indexes, on demand, and with a stream if requested. */
export const createTableInput = (catalog: Catalog, stream = false): CreateTableInput => {
  const indexes = [catalog.index, ...catalog.indexes];
  const attributes = new Set(indexes.flatMap(keyAttributes));
  return {
    TableName: catalog.table,
    AttributeDefinitions: [...attributes].map((name) => ({ AttributeName: name, AttributeType: keyType(catalog.layout, name) })),
    KeySchema: keySchema(catalog.index),
    ...(catalog.indexes.length === 0 ? {} : { GlobalSecondaryIndexes: catalog.indexes.map(secondaryIndex) }),
    BillingMode: "PAY_PER_REQUEST",
    ...(stream ? { StreamSpecification: { StreamEnabled: true, StreamViewType: IMAGES } } : {}),
  };
};

/** The UpdateTable that creates an index of the model in a table that exists. */
export const createIndexInput = (catalog: Catalog, name: string, table: TableDescription): UpdateTableInput => {
  const index = defined(
    catalog.indexes.find((one) => one.name === name),
    name,
  );
  const types = new Map(table.AttributeDefinitions?.map((one) => [one.AttributeName ?? "", one.AttributeType as "S" | "N" | "B"]));
  for (const attribute of keyAttributes(index)) types.set(attribute, keyType(catalog.layout, attribute));
  const { ReadCapacityUnits = 0, WriteCapacityUnits = 0 } = table.ProvisionedThroughput ?? {};
  // In provisioned mode, an index does not inherit the table's capacity. While it is being filled, an index may need more than the
  // table.
  const throughput = WriteCapacityUnits === 0 ? {} : { ProvisionedThroughput: { ReadCapacityUnits, WriteCapacityUnits } };
  return {
    TableName: catalog.table,
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    GlobalSecondaryIndexUpdates: [{ Create: { ...secondaryIndex(index), ...throughput } }],
  };
};

/** One way in which a table differs from its model. */
export interface TableDifference {
  readonly place: string;
  readonly model: string;
  readonly table: string;
  /** True if Edgetable can work on the table nevertheless. */
  readonly harmless: boolean;
}

/**
 * What to do about a table that differs from its model, as a sentence or two.
 *
 * @param how how the reader of the message migrates a table and enables its stream
 */
export const tableRemedy = (
  differences: readonly TableDifference[],
  how: { readonly migrate: string; readonly stream: string },
): string => {
  const places = differences.filter(({ harmless }) => !harmless);
  if (places.every(({ place }) => place === "stream")) return how.stream;
  const fixed = places.filter(({ place, table }) => table !== "missing" && place !== "time to live" && place !== "stream");
  if (fixed.length === 0) return how.migrate;
  if (!fixed.every(({ place }) => place.startsWith("index "))) return "Change the model's layout, or use another table.";
  return `DynamoDB cannot change an index: give the new one another name. ${how.migrate}`;
};

/** How a program migrates a table and enables its stream. */
const HOW = {
  migrate:
    "To change the table, run edgetable migrate run --finish, or db.migrations.run({ finish: true }), when every program uses this model.",
  stream: "Switch its stream on: db.table.create({ stream: true }).",
};

/** @throws {table.mismatch} if a difference is not harmless */
export const refuseDifferences = (table: string, found: readonly TableDifference[]): void => {
  const differences = found.filter((one) => !one.harmless);
  if (differences.length === 0) return;
  const list = differences.map((one) => `${one.place}: the model says ${one.model}, the table ${one.table}`).join("; ");
  throw new EdgetableError("table.mismatch", `The table "${table}" does not fit the model: ${list}. ${tableRemedy(differences, HOW)}`, {
    details: { table, differences },
  });
};

const describeKeys = (keys: readonly KeySchemaElement[] | undefined): string =>
  (keys ?? []).map((key) => `${key.KeyType} ${key.AttributeName}`).join(", ");

const describeProjection = (
  value: { readonly ProjectionType?: string; readonly NonKeyAttributes?: readonly string[] } | undefined,
): string => [value?.ProjectionType ?? "none", ...(value?.NonKeyAttributes ?? []).toSorted()].join(" ");

const differing = (place: string, model: string, table: string): readonly TableDifference[] =>
  model === table ? [] : [{ place, model, table, harmless: false }];

// A local index of an existing table is queried like a global one.
const indexesOf = ({ GlobalSecondaryIndexes = [], LocalSecondaryIndexes = [] }: TableDescription): readonly IndexDescription[] => [
  ...GlobalSecondaryIndexes,
  ...LocalSecondaryIndexes,
];

/** The attribute with the expiry time of a table's items; undefined if they do not expire. */
export const expiryOf = ({ TimeToLiveDescription: found }: OperationOutputs["DescribeTimeToLive"]): string | undefined =>
  found?.TimeToLiveStatus === "ENABLED" || found?.TimeToLiveStatus === "ENABLING" ? (found.AttributeName ?? "") : undefined;

/** How the expiry of a table's items differs from its model. Items of a model without a `ttl` may be removed all the same. */
export const compareExpiry = ({ ttl }: Catalog, expiry: string | undefined): readonly TableDifference[] => {
  if (ttl === expiry) return [];
  return [{ place: "time to live", model: ttl ?? "none", table: expiry ?? "off", harmless: ttl === undefined }];
};

/** The differences between a table and its model; empty if Edgetable can work on it. */
export const compareTable = (catalog: Catalog, description: TableDescription): readonly TableDifference[] => [
  ...differing("table keys", describeKeys(keySchema(catalog.index)), describeKeys(description.KeySchema)),
  ...createTableInput(catalog).AttributeDefinitions.flatMap(({ AttributeName: name, AttributeType: type }) => {
    const found = description.AttributeDefinitions?.find((one) => one.AttributeName === name);
    return found ? differing(`attribute ${name}`, type, found.AttributeType ?? "") : [];
  }),
  ...catalog.indexes.flatMap((index) => {
    const place = `index ${index.name}`;
    const found = indexesOf(description).find((one) => one.IndexName === index.name);
    if (!found) return [{ place, model: describeKeys(keySchema(index)), table: "missing", harmless: false }];
    return [
      ...differing(`${place} keys`, describeKeys(keySchema(index)), describeKeys(found.KeySchema)),
      ...differing(`${place} projection`, describeProjection(projection(index)), describeProjection(found.Projection)),
    ];
  }),
  ...indexesOf(description)
    .filter((one) => !catalog.indexes.some((index) => index.name === one.IndexName))
    .map((one) => ({ place: `index ${one.IndexName}`, model: "none", table: describeKeys(one.KeySchema), harmless: true })),
];
