import { EdgetableError } from "../errors/edgetable-error.ts";
import type { EndId, LinkWrite, LogicalWrite, PutEdgeWrite } from "../ir/logical-write.ts";
import type { Catalog, EdgeEntry } from "../schema/catalog.ts";
import { checkKey, checkEnd } from "../schema/check-id.ts";
import { edgeNamed } from "./check-names.ts";
import { checkOwnNames, readChanges, readGuards, readSomeChanges, sendingKinds, subjectOf, writeKinds } from "./read-changes.ts";
import { writeCall, type WriteDriver } from "./write-call.ts";
import type { EdgeWrites, LinkOptions, RelinkOptions, WriteOptions } from "./write-types.ts";
import { checkOptions, type OptionChecks, namesIn } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";

interface AnyEnds {
  readonly from: Row;
  readonly to: Row;
  readonly edge: Row;
  readonly filter: Row;
}
interface AnyTypes {
  readonly row: Row;
  readonly input: Row;
  readonly key: Row;
  readonly changes: Row;
}

const linkKinds: OptionChecks<LinkOptions<Row>> = { ...sendingKinds, reverse: namesIn };
const nested = ["from", "to"];
const relinkKinds: OptionChecks<RelinkOptions<Row, Row, Row>> = { ...writeKinds, ...linkKinds, key: namesIn, type: "string" };

const refuseReference = (entry: EdgeEntry): void => {
  if (entry.definition.stored !== "reference") return;
  const node = entry.from.join(" or ");
  throw new EdgetableError(
    "plan.unsupported",
    `"${entry.name}" is stored as attributes of "${node}": set them with an update of that node.`,
    { details: { edge: entry.name } },
  );
};

const edgeRows = (catalog: Catalog, entry: EdgeEntry) => {
  const edge = entry.name;
  const subject = subjectOf(edge, entry.definition, entry.key, entry.shapes[0]);
  const ends = (from: Row, to: Row): { readonly edge: string; readonly from: EndId; readonly to: EndId } => {
    refuseReference(entry);
    return { edge, from: checkEnd(catalog, entry.from, from), to: checkEnd(catalog, entry.to, to) };
  };
  const reverseOf = (reverse: Row | undefined): Row => {
    if (!reverse) return {};
    if (entry.definition.stored === "twice" || entry.definition.symmetric) return readChanges(subject, reverse).set;
    throw new EdgetableError(
      "plan.invalidOption",
      `"${edge}" is stored once: there is no other copy for \`reverse\`. Store it twice, or leave that out.`,
      {
        details: { option: "reverse", value: reverse },
      },
    );
  };
  const rowsOf = (row: Row = {}, options: LinkOptions<Row> = {}): Pick<LinkWrite, "row" | "reverse" | "idempotent"> => {
    checkOwnNames(subject, namesIn(row));
    const { reverse, idempotent } = checkOptions(options, linkKinds);
    return { row, reverse: reverseOf(reverse), idempotent };
  };
  return { subject, ends, reverseOf, rowsOf };
};

/** Gives the write that puts an edge, for a call or a bulk load. */
export const edgePut = (
  catalog: Catalog,
  entry: EdgeEntry,
): ((from: Row, to: Row, attributes?: Row, options?: LinkOptions<Row>) => PutEdgeWrite) => {
  const { ends, rowsOf } = edgeRows(catalog, entry);
  return (from, to, attributes, options) => ({ kind: "putEdge", ...rowsOf(attributes, options), ...ends(from, to), ends: "checked" });
};

/** The writing side of `db.<edge>`. */
export const edgeWrites = (driver: WriteDriver, entry: EdgeEntry): EdgeWrites<AnyEnds, AnyTypes> => {
  const edge = entry.name;
  const { subject, ends, reverseOf, rowsOf } = edgeRows(driver.catalog, entry);
  const putOf = edgePut(driver.catalog, entry);
  const keyOf = (key: Row): Row => checkKey(edge, entry.key, key);
  const call = (write: LogicalWrite): ReturnType<typeof writeCall<Row>> => writeCall<Row>(driver, write);
  return {
    link: (from, to, attributes, options) => call({ kind: "link", ...rowsOf(attributes as Row | undefined, options), ...ends(from, to) }),
    put: (from, to, attributes, options) => call(putOf(from, to, attributes as Row | undefined, options)),
    relink: (from, to, given, options: RelinkOptions<Row, Row, Row> = {}) => {
      const guards = readGuards(subject, options, { kinds: relinkKinds, nested });
      const { type } = options;
      const target = type === undefined ? undefined : edgeNamed(driver, type);
      const of = target ? subjectOf(target.name, target.definition, [], target.shapes[0]) : subject;
      const changes = target ? readChanges(of, given as Row) : readSomeChanges(of, given as Row);
      return call({
        kind: "relink",
        ...ends(from, to),
        key: keyOf(options.key ?? {}),
        changes,
        reverse: reverseOf(options.reverse),
        guards,
        idempotent: options.idempotent,
        type,
        validates: driver.validates,
      });
    },
    unlink: (from, to, key = {}, options: WriteOptions<Row> = {}) => {
      const guards = readGuards(subject, options, { nested });
      return call({ kind: "unlink", ...ends(from, to), key: keyOf(key), guards, idempotent: options.idempotent });
    },
  };
};
