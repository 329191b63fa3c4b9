/**
 * The wire format of the DynamoDB operations that Edgetable uses (API version 2012-08-10), as plain
 * data: what a transport takes and gives. Binary values travel as base64 text.
 */

export type AttributeValue =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly B: string }
  | { readonly L: readonly AttributeValue[] }
  | { readonly M: Readonly<Record<string, AttributeValue>> }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] };

/** One item, or the key of one, as attribute name to value. */
export type Item = Readonly<Record<string, AttributeValue>>;
export type Key = Item;

export interface ConsumedCapacity {
  readonly TableName?: string;
  readonly CapacityUnits?: number;
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
  readonly Table?: CapacityUnits;
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, CapacityUnits>>;
  readonly LocalSecondaryIndexes?: Readonly<Record<string, CapacityUnits>>;
}
export interface CapacityUnits {
  readonly CapacityUnits?: number;
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
}
type ReturnConsumedCapacity = "INDEXES" | "TOTAL" | "NONE";

interface Expressions {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
}
interface Conditional extends Expressions {
  readonly ConditionExpression?: string;
  readonly ReturnValuesOnConditionCheckFailure?: "ALL_OLD" | "NONE";
}

export interface GetItemInput {
  readonly TableName: string;
  readonly Key: Key;
  readonly ConsistentRead?: boolean;
  readonly ProjectionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface GetItemOutput {
  readonly Item?: Item;
  readonly ConsumedCapacity?: ConsumedCapacity;
}

export interface QueryInput extends Expressions {
  readonly TableName: string;
  readonly IndexName?: string;
  readonly KeyConditionExpression: string;
  readonly FilterExpression?: string;
  readonly ProjectionExpression?: string;
  readonly Select?: "ALL_ATTRIBUTES" | "ALL_PROJECTED_ATTRIBUTES" | "SPECIFIC_ATTRIBUTES" | "COUNT";
  readonly ConsistentRead?: boolean;
  readonly ScanIndexForward?: boolean;
  readonly Limit?: number;
  readonly ExclusiveStartKey?: Key;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface ScanInput extends Expressions {
  readonly TableName: string;
  readonly IndexName?: string;
  readonly FilterExpression?: string;
  readonly ProjectionExpression?: string;
  readonly ConsistentRead?: boolean;
  readonly Limit?: number;
  readonly Segment?: number;
  readonly TotalSegments?: number;
  readonly ExclusiveStartKey?: Key;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface QueryOutput {
  readonly Items?: readonly Item[];
  /** Not DynamoDB's: what a transport gives in place of the items where `SendOptions.column` names one text of each. */
  readonly Texts?: readonly string[];
  readonly Count?: number;
  readonly ScannedCount?: number;
  readonly LastEvaluatedKey?: Key;
  readonly ConsumedCapacity?: ConsumedCapacity;
}

export interface KeysAndAttributes {
  readonly Keys: readonly Key[];
  readonly ConsistentRead?: boolean;
  readonly ProjectionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
}
export interface BatchGetItemInput {
  readonly RequestItems: Readonly<Record<string, KeysAndAttributes>>;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface BatchGetItemOutput {
  readonly Responses?: Readonly<Record<string, readonly Item[]>>;
  readonly UnprocessedKeys?: Readonly<Record<string, KeysAndAttributes>>;
  readonly ConsumedCapacity?: readonly ConsumedCapacity[];
}

export interface PutItemInput extends Conditional {
  readonly TableName: string;
  readonly Item: Item;
  readonly ReturnValues?: "NONE" | "ALL_OLD";
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface UpdateItemInput extends Conditional {
  readonly TableName: string;
  readonly Key: Key;
  readonly UpdateExpression?: string;
  readonly ReturnValues?: "NONE" | "ALL_OLD" | "UPDATED_OLD" | "ALL_NEW" | "UPDATED_NEW";
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface DeleteItemInput extends Conditional {
  readonly TableName: string;
  readonly Key: Key;
  readonly ReturnValues?: "NONE" | "ALL_OLD";
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface WriteItemOutput {
  readonly Attributes?: Item;
  readonly ConsumedCapacity?: ConsumedCapacity;
}

export type WriteRequest = { readonly PutRequest: { readonly Item: Item } } | { readonly DeleteRequest: { readonly Key: Key } };
export interface BatchWriteItemInput {
  readonly RequestItems: Readonly<Record<string, readonly WriteRequest[]>>;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface BatchWriteItemOutput {
  readonly UnprocessedItems?: Readonly<Record<string, readonly WriteRequest[]>>;
  readonly ConsumedCapacity?: readonly ConsumedCapacity[];
}

type TransactPut = Omit<PutItemInput, "ReturnValues" | "ReturnConsumedCapacity">;
type TransactUpdate = Omit<UpdateItemInput, "ReturnValues" | "ReturnConsumedCapacity" | "UpdateExpression"> & {
  readonly UpdateExpression: string;
};
type TransactDelete = Omit<DeleteItemInput, "ReturnValues" | "ReturnConsumedCapacity">;
interface TransactCheck extends Conditional {
  readonly TableName: string;
  readonly Key: Key;
  readonly ConditionExpression: string;
}
export type TransactWriteItem =
  | { readonly Put: TransactPut }
  | { readonly Update: TransactUpdate }
  | { readonly Delete: TransactDelete }
  | { readonly ConditionCheck: TransactCheck };
export interface TransactWriteItemsInput {
  readonly TransactItems: readonly TransactWriteItem[];
  readonly ClientRequestToken?: string;
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface TransactWriteItemsOutput {
  readonly ConsumedCapacity?: readonly ConsumedCapacity[];
}
export interface TransactGetItemsInput {
  readonly TransactItems: readonly { readonly Get: Omit<GetItemInput, "ConsistentRead" | "ReturnConsumedCapacity"> }[];
  readonly ReturnConsumedCapacity?: ReturnConsumedCapacity;
}
export interface TransactGetItemsOutput {
  readonly Responses?: readonly { readonly Item?: Item }[];
  readonly ConsumedCapacity?: readonly ConsumedCapacity[];
}

/** Why one item of a cancelled transaction failed; `Code` is `"None"` for those that did not. */
export interface CancellationReason {
  readonly Code?: string;
  readonly Message?: string;
  readonly Item?: Item;
}

export interface KeySchemaElement {
  readonly AttributeName: string;
  readonly KeyType: "HASH" | "RANGE";
}
export interface Projection {
  readonly ProjectionType: "ALL" | "KEYS_ONLY" | "INCLUDE";
  readonly NonKeyAttributes?: readonly string[];
}
export interface GlobalSecondaryIndex {
  readonly IndexName: string;
  readonly KeySchema: readonly KeySchemaElement[];
  readonly Projection: Projection;
}
export interface CreateTableInput {
  readonly TableName: string;
  readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: "S" | "N" | "B" }[];
  readonly KeySchema: readonly KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: readonly GlobalSecondaryIndex[];
  readonly BillingMode?: "PAY_PER_REQUEST" | "PROVISIONED";
  readonly StreamSpecification?: StreamSpecification;
  readonly DeletionProtectionEnabled?: boolean;
}
/** What a record of a stream holds of its item. */
export type StreamViewType = "KEYS_ONLY" | "NEW_IMAGE" | "OLD_IMAGE" | "NEW_AND_OLD_IMAGES";
/** Whether a table records its changes, and what of each item. */
export interface StreamSpecification {
  readonly StreamEnabled: boolean;
  readonly StreamViewType?: StreamViewType;
}
/** Capacity units a second of a table or an index in provisioned mode; 0 on demand. */
export interface ProvisionedThroughput {
  readonly ReadCapacityUnits?: number;
  readonly WriteCapacityUnits?: number;
}
export interface UpdateTableInput {
  readonly TableName: string;
  readonly AttributeDefinitions?: CreateTableInput["AttributeDefinitions"];
  /** One index is created or deleted at a time (UpdateTable). */
  readonly GlobalSecondaryIndexUpdates?: readonly (
    | { readonly Create: GlobalSecondaryIndex & { readonly ProvisionedThroughput?: ProvisionedThroughput } }
    | { readonly Delete: { readonly IndexName: string } }
  )[];
  readonly StreamSpecification?: StreamSpecification;
  readonly DeletionProtectionEnabled?: boolean;
}
export interface IndexDescription {
  readonly IndexName?: string;
  readonly IndexStatus?: string;
  /** True while DynamoDB fills a new index from the table. */
  readonly Backfilling?: boolean;
  readonly ItemCount?: number;
  readonly IndexSizeBytes?: number;
  readonly KeySchema?: readonly KeySchemaElement[];
  readonly Projection?: { readonly ProjectionType?: string; readonly NonKeyAttributes?: readonly string[] };
}
export interface TableDescription {
  readonly TableName?: string;
  readonly TableStatus?: string;
  readonly ItemCount?: number;
  readonly TableSizeBytes?: number;
  readonly KeySchema?: readonly KeySchemaElement[];
  readonly AttributeDefinitions?: readonly { readonly AttributeName?: string; readonly AttributeType?: string }[];
  readonly GlobalSecondaryIndexes?: readonly IndexDescription[];
  readonly LocalSecondaryIndexes?: readonly IndexDescription[];
  readonly StreamSpecification?: { readonly StreamEnabled?: boolean; readonly StreamViewType?: string };
  /** Set as soon as the table has had a stream; a stream that was switched off is readable for another 24 hours. */
  readonly LatestStreamArn?: string;
  readonly BillingModeSummary?: { readonly BillingMode?: string };
  readonly ProvisionedThroughput?: ProvisionedThroughput;
  readonly DeletionProtectionEnabled?: boolean;
}
export interface TableOutput {
  readonly TableDescription?: TableDescription;
}

export interface ContinuousBackupsOutput {
  readonly ContinuousBackupsDescription?: {
    readonly PointInTimeRecoveryDescription?: { readonly PointInTimeRecoveryStatus?: string };
  };
}

export interface OperationInputs {
  readonly GetItem: GetItemInput;
  readonly Query: QueryInput;
  readonly Scan: ScanInput;
  readonly BatchGetItem: BatchGetItemInput;
  readonly PutItem: PutItemInput;
  readonly UpdateItem: UpdateItemInput;
  readonly DeleteItem: DeleteItemInput;
  readonly BatchWriteItem: BatchWriteItemInput;
  readonly TransactWriteItems: TransactWriteItemsInput;
  readonly TransactGetItems: TransactGetItemsInput;
  readonly CreateTable: CreateTableInput;
  readonly DeleteTable: { readonly TableName: string };
  readonly UpdateTable: UpdateTableInput;
  readonly DescribeTable: { readonly TableName: string };
  readonly ListTables: { readonly Limit?: number; readonly ExclusiveStartTableName?: string };
  readonly UpdateTimeToLive: {
    readonly TableName: string;
    readonly TimeToLiveSpecification: { readonly AttributeName: string; readonly Enabled: boolean };
  };
  readonly DescribeTimeToLive: { readonly TableName: string };
  readonly UpdateContinuousBackups: {
    readonly TableName: string;
    readonly PointInTimeRecoverySpecification: { readonly PointInTimeRecoveryEnabled: boolean };
  };
  readonly DescribeContinuousBackups: { readonly TableName: string };
}
export interface OperationOutputs {
  readonly GetItem: GetItemOutput;
  readonly Query: QueryOutput;
  readonly Scan: QueryOutput;
  readonly BatchGetItem: BatchGetItemOutput;
  readonly PutItem: WriteItemOutput;
  readonly UpdateItem: WriteItemOutput;
  readonly DeleteItem: WriteItemOutput;
  readonly BatchWriteItem: BatchWriteItemOutput;
  readonly TransactWriteItems: TransactWriteItemsOutput;
  readonly TransactGetItems: TransactGetItemsOutput;
  readonly CreateTable: TableOutput;
  readonly DeleteTable: TableOutput;
  readonly UpdateTable: TableOutput;
  readonly DescribeTable: { readonly Table?: TableDescription };
  readonly ListTables: { readonly TableNames?: readonly string[]; readonly LastEvaluatedTableName?: string };
  readonly UpdateTimeToLive: object;
  readonly DescribeTimeToLive: {
    readonly TimeToLiveDescription?: { readonly TimeToLiveStatus?: string; readonly AttributeName?: string };
  };
  readonly UpdateContinuousBackups: ContinuousBackupsOutput;
  readonly DescribeContinuousBackups: ContinuousBackupsOutput;
}
export type Operation = keyof OperationInputs;
