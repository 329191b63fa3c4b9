import { EdgetableError } from "../errors/edgetable-error.ts";
import { templateMatches } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import { CURSORS, JOBS, MODEL_RECORD, OWNER, textAt } from "../schema/system-items.ts";
import { counterOf, countersOf, jobIdOf, ownerText, readDegreeGuard } from "../schema/system-keys.ts";
import { jobNameOf, type PartitionKey, tenantKeys, tenantPrefix } from "../schema/tenant-keys.ts";
import type { Item, Key, Operation, OperationInputs, OperationOutputs, QueryInput, UpdateItemInput } from "../transport/operations.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import type { CallContext, Session } from "./session.ts";

/** One tenant's part of a table, against which requests and responses are checked. */
interface Guard {
  readonly catalog: Catalog;
  readonly tenant: Row;
  /** The beginnings of the tenant's partition keys, by key attribute. */
  readonly own: ReadonlyMap<string, readonly Beginning[]>;
  /** What the owners of the tenant's unique values, counters and jobs begin with, by node type or part. */
  readonly owners: ReadonlyMap<string, string>;
  /** Partition keys of indexes that may show items from partitions of other tenants: edges from there. */
  readonly crossing: ReadonlySet<string>;
  readonly keys: ReturnType<typeof tenantKeys>;
  /** Partitions beyond the tenant's that a deletion may name: see `Crossing`. */
  readonly reach?: ReadonlySet<string> | undefined;
}

interface Beginning {
  readonly text: string;
  readonly whole: boolean;
}

const unknownField = (catalog: Catalog, fields: readonly string[]): EdgetableError | undefined => {
  const known = [...new Set(Object.values(catalog.nodes).flatMap(({ idFields }) => idFields))];
  const unknown = fields.find((field) => !known.includes(field));
  if (unknown === undefined && fields.length > 0) return undefined;
  return new EdgetableError(
    "plan.invalidOption",
    unknown === undefined
      ? "as() needs at least one id field and its value, such as { tenantId }."
      : `"${unknown}" is in no node's id, so it cannot tell tenants apart.${didYouMean(unknown, known)}`,
    { details: { option: unknown, known } },
  );
};

const openGuard = (catalog: Catalog, tenant: Row): Guard => {
  const fields = Object.keys(tenant);
  const invalid = unknownField(catalog, fields);
  if (invalid) throw invalid;
  const keys = tenantKeys(catalog, fields);
  const own = new Map<string, Beginning[]>();
  const ends = new Map<string, string | undefined>();
  const table = catalog.index.partitionKey;
  for (const key of keys.covered) {
    const begins = { text: tenantPrefix(key, tenant), whole: key.whole };
    own.set(key.attribute, [...(own.get(key.attribute) ?? []), begins]);
    if (key.attribute === table) ends.set(key.shape, key.end);
  }
  const crossing = keys.covered.filter(({ attribute, shape, end }) => attribute !== table && ends.get(shape) !== end);
  const owners = new Map<string, string>();
  for (const entry of Object.values(catalog.ends)) {
    const idFields = entry.idFields.slice(0, fields.length);
    // Without the bracket at its end: the other id fields follow.
    if (fields.every((field) => idFields.includes(field))) owners.set(entry.name, ownerText({ ...entry, idFields }, tenant).slice(0, -1));
  }
  return { catalog, tenant, own, owners, crossing: new Set(crossing.map(({ attribute }) => attribute)), keys };
};

const isOwn = ({ own }: Guard, attribute: string, text: string): boolean =>
  own.get(attribute)?.some((begins) => (begins.whole ? text === begins.text : text.startsWith(begins.text))) ?? false;

/** True if a partition of the table belongs to the tenant, or a deletion may name it. */
const isReached = (guard: Guard, partition: string): boolean =>
  isOwn(guard, guard.catalog.index.partitionKey, partition) || guard.reach?.has(partition) === true;

/** True if a list as JSON begins with the values of the tenant. */
const continues = (text: string, beginning: string | undefined): boolean =>
  beginning !== undefined && text.startsWith(beginning) && [",", "]"].includes(text.charAt(beginning.length));

/** True if a job belongs to the tenant: its program has named it, or it concerns one of the tenant's nodes. */
const isOwnJob = ({ owners, tenant }: Guard, id: string): boolean => {
  if (id.startsWith(jobNameOf({ tenant }, ""))) return true;
  const [, node = "", owner = ""] = /^(?:delete|copy) (\S+) (.*)$/s.exec(id) ?? [];
  return continues(owner, owners.get(node));
};

const ownsMarker = ({ owners }: Guard, partition: string, marker: Item): boolean =>
  continues(textAt(marker, OWNER), owners.get(partition.split("#")[1] ?? ""));

/** True if a tenant's program may name one of Edgetable's own items. */
const mayName = (guard: Guard, item: Item, writes: boolean): boolean => {
  const { index } = guard.catalog;
  const partition = textAt(item, index.partitionKey);
  if (partition === MODEL_RECORD) return !writes;
  if (partition.startsWith(CURSORS)) return true;
  // A key does not tell its owner: the item that is read or put does.
  if (partition.startsWith("~unique#")) return !(OWNER in item) || ownsMarker(guard, partition, item);
  if (partition.startsWith("~counter#")) {
    const node = partition.split("#")[1] ?? "";
    const owner = guard.owners.get(node);
    if (owner === undefined) return false;
    return continues(partition, countersOf(counterOf(node, owner, "-", 0).partition)) || guard.reach?.has(countersOf(partition)) === true;
  }
  if (partition === JOBS) return isOwnJob(guard, jobIdOf(textAt(item, index.sortKey)));
  if (partition.startsWith(`${JOBS}#`)) return isOwnJob(guard, jobIdOf(partition.slice(JOBS.length + 1)));
  const degree = partition.startsWith("~degree#") ? readDegreeGuard(guard.catalog, item) : undefined;
  return degree !== undefined && isReached(guard, degree.partition);
};

const refuseForeign = ({ keys, tenant }: Guard, operation: string, attribute: string, text: string): never => {
  const names = (key: PartitionKey): boolean => key.attribute === attribute && templateMatches(key.template, text);
  const fields = Object.keys(tenant).join(" and ");
  const unscoped = keys.covered.some(names) ? undefined : keys.uncovered.find(names);
  if (unscoped)
    throw new EdgetableError(
      "plan.unsupported",
      `${operation} reads or writes "${unscoped.definition}" by ${attribute} (${unscoped.template.source}), which does not begin with ${fields}: tenants share it. Let the key begin with ${fields}; in a declared index, name it first, with split. Or use the connection that \`as\` was called on.`,
      { details: { operation, attribute, definition: unscoped.definition, template: unscoped.template.source } },
    );
  throw new EdgetableError(
    "request.otherTenant",
    `${operation} was not sent: its ${attribute} ${jsonText(text)} is not one of ${jsonText(tenant)}, and this connection reaches no other tenant's items.`,
    { details: { operation, attribute, key: text, tenant } },
  );
};

const checkKey = (guard: Guard, operation: string, key: Key, writes = true): void => {
  const { partitionKey } = guard.catalog.index;
  const text = textAt(key, partitionKey);
  if (isReached(guard, text) || (text.startsWith("~") && mayName(guard, key, writes))) return;
  refuseForeign(guard, operation, partitionKey, text);
};

/** Checks the keys of indexes that a write gives an item: by them another tenant would find it. */
const checkEntries = (guard: Guard, operation: string, item: Item): void => {
  for (const partitionKey of guard.catalog.indexes.flatMap(({ partitionKeys }) => partitionKeys)) {
    const text = textAt(item, partitionKey);
    if (text === "" || isOwn(guard, partitionKey, text)) continue;
    const isForeign = guard.keys.covered.some(({ attribute, template }) => attribute === partitionKey && templateMatches(template, text));
    if (isForeign) refuseForeign(guard, operation, partitionKey, text);
  }
};

const checkItem = (guard: Guard, operation: string, item: Item): void => {
  checkKey(guard, operation, item);
  checkEntries(guard, operation, item);
};

type Names = Pick<QueryInput, "ExpressionAttributeNames">;

const nameOf = ({ ExpressionAttributeNames = {} }: Names, name: string): string => ExpressionAttributeNames[name] ?? name;

type Update = Pick<UpdateItemInput, "Key" | "UpdateExpression" | "ExpressionAttributeNames" | "ExpressionAttributeValues">;

const checkUpdate = (guard: Guard, operation: string, input: Update): void => {
  checkKey(guard, operation, input.Key);
  const set: Record<string, Item[string]> = {};
  for (const [, name = "", value = ""] of (input.UpdateExpression ?? "").matchAll(/([#\w]+) = (?:if_not_exists\([^,]*, )?(:\w+)/g)) {
    const given = input.ExpressionAttributeValues?.[value];
    if (given) set[nameOf(input, name)] = given;
  }
  checkEntries(guard, operation, set);
};

const partitionKeysOf = ({ catalog }: Guard, { IndexName }: QueryInput): readonly string[] =>
  [catalog.index, ...catalog.indexes].find(({ name }) => name === IndexName)?.partitionKeys ?? [];

/** Checks a Query, and returns one that also reads the table's partition key of each item. */
const checkQuery = (guard: Guard, input: QueryInput): QueryInput => {
  const { partitionKey } = guard.catalog.index;
  const attributes = partitionKeysOf(guard, input);
  let [attribute = "", text] = [attributes[0], ""];
  for (const [, name = "", value = ""] of input.KeyConditionExpression.matchAll(/(?:^| AND )([#\w]+) = (:\w+)(?= AND |$)/g)) {
    const named = nameOf(input, name);
    const given = textAt({ value: input.ExpressionAttributeValues?.[value] }, "value");
    if (attributes.includes(named) && (text === "" || isOwn(guard, named, given))) [attribute, text] = [named, given];
  }
  const isJobs = input.IndexName === undefined && text === JOBS;
  if (!isJobs && !isOwn(guard, attribute, text)) refuseForeign(guard, "Query", attribute, text);
  if (!attributes.some((one) => guard.crossing.has(one))) {
    if (input.ExclusiveStartKey && !isJobs) checkKey(guard, "Query", input.ExclusiveStartKey, false);
    return input;
  }
  const { Select, ProjectionExpression, ...rest } = input;
  const projected = ProjectionExpression?.split(", ") ?? [];
  if (Select !== "COUNT" && (projected.length === 0 || projected.some((one) => nameOf(input, one) === partitionKey))) return input;
  return {
    ...rest,
    ProjectionExpression: [...projected, "#tenant"].join(", "),
    ExpressionAttributeNames: { ...input.ExpressionAttributeNames, "#tenant": partitionKey },
  };
};

/** Checks a request, and gives what is sent. */
const checkRequest = <O extends Operation>(guard: Guard, operation: O, given: OperationInputs[O]): OperationInputs[O] => {
  type Inputs = { readonly [One in Operation]: readonly [One, OperationInputs[One]] }[Operation];
  const [kind, input] = [operation, given] as unknown as Inputs;
  switch (kind) {
    case "GetItem":
      checkKey(guard, operation, input.Key, false);
      return given;
    case "Query":
      return checkQuery(guard, input) as OperationInputs[O];
    case "BatchGetItem":
      for (const { Keys } of Object.values(input.RequestItems)) for (const key of Keys) checkKey(guard, operation, key, false);
      return given;
    case "TransactGetItems":
      for (const { Get } of input.TransactItems) checkKey(guard, operation, Get.Key, false);
      return given;
    case "PutItem":
      checkItem(guard, operation, input.Item);
      return given;
    case "UpdateItem":
      checkUpdate(guard, operation, input);
      return given;
    case "DeleteItem":
      checkKey(guard, operation, input.Key);
      return given;
    case "BatchWriteItem":
      for (const one of Object.values(input.RequestItems).flat()) {
        if ("PutRequest" in one) checkItem(guard, operation, one.PutRequest.Item);
        else checkKey(guard, operation, one.DeleteRequest.Key);
      }
      return given;
    case "TransactWriteItems":
      for (const one of input.TransactItems) {
        if ("Put" in one) checkItem(guard, operation, one.Put.Item);
        else if ("Update" in one) checkUpdate(guard, operation, one.Update);
        else checkKey(guard, operation, "Delete" in one ? one.Delete.Key : one.ConditionCheck.Key);
      }
      return given;
    default:
      throw new EdgetableError(
        "plan.unsupported",
        `${operation} concerns the whole table, and this connection is one tenant's. Use the connection that \`as\` was called on.`,
        { details: { operation } },
      );
  }
};

type Answer = OperationOutputs["Query"] & OperationOutputs["GetItem"];

/** Takes out of an answer what is another tenant's: edges from other tenants in an index, unique values, jobs. */
const ofTenant = (
  guard: Guard,
  [operation, input, { crossing }]: readonly [Operation, QueryInput & { readonly Key?: Key }, CallContext],
  given: Answer,
): Answer => {
  const { index } = guard.catalog;
  if (operation === "GetItem") {
    const partition = textAt(input.Key ?? {}, index.partitionKey);
    const { Item, ...nothing } = given;
    return Item && partition.startsWith("~unique#") && !ownsMarker(guard, partition, Item) ? nothing : given;
  }
  if (operation !== "Query" || !given.Items) return given;
  const { Items, ...rest } = given;
  if (partitionKeysOf(guard, input).some((one) => guard.crossing.has(one)) && !crossing?.reach) {
    const own = Items.filter((item) => isOwn(guard, index.partitionKey, textAt(item, index.partitionKey)));
    if (crossing) crossing.met += Items.length - own.length;
    return { ...rest, Items: own, Count: own.length };
  }
  return textAt(Items[0] ?? {}, index.partitionKey) === JOBS && input.IndexName === undefined
    ? { ...rest, Items: Items.filter((item) => isOwnJob(guard, jobIdOf(textAt(item, index.sortKey)))) }
    : given;
};

const guards = new WeakMap<Row, Guard>();

/**
 * Sends a request of a connection that is one tenant's.
 *
 * @throws {request.otherTenant} before it is sent, when a key in it is another tenant's
 * @throws {plan.unsupported} when a key in it does not begin with the tenant, and for requests that concern the whole table
 */
export const sendAs = async <O extends Operation>(
  session: Session,
  tenant: Row,
  [operation, input, context, ...notes]: readonly [
    operation: O,
    input: OperationInputs[O],
    context: CallContext,
    notesRefusals?: boolean | undefined,
  ],
): Promise<OperationOutputs[O]> => {
  let guard = guards.get(tenant);
  if (!guard) guards.set(tenant, (guard = openGuard(session.catalog, tenant)));
  const { reach } = context.crossing ?? {};
  const checked = checkRequest(reach ? { ...guard, reach } : guard, operation, input);
  // A column of texts alone would not show from which partitions they are.
  const whole = context.column && operation === "Query" ? { ...context, column: undefined } : context;
  const output = await session.send(operation, checked, whole, ...notes);
  return ofTenant(guard, [operation, checked as never, context], output as Answer) as OperationOutputs[O];
};
