import type { LogicalWrite } from "../../ir/logical-write.ts";
import { sameKey, type WriteFailure } from "../../ir/write-plan.ts";
import { sameValue } from "../../keys/template.ts";
import { keyIfComplete } from "../../requests/encode-item.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Key } from "../../transport/operations.ts";
import type { Row } from "../../util/row.ts";
import { edgeCopies } from "./rules/edge-copies.ts";
import { failWrittenTwice, subjectOf } from "./working-set.ts";

/** What a write says of its row. */
const givenOf = (write: LogicalWrite): Row => {
  const one = "create" in write ? write.create : write;
  return "row" in one ? one.row : "id" in one ? one.id : one.key;
};

const keysOf = (catalog: Catalog, write: LogicalWrite): readonly Key[] => {
  const subject = subjectOf(catalog, write);
  const row = givenOf(write);
  const places = subject.kind === "edge" ? edgeCopies(subject, row) : [{ shape: subject.entry.shape, row }];
  return places.map((place) => keyIfComplete(catalog, place.shape, place.row)).filter((key) => key !== undefined);
};

/** True if a write gives each field of an id, where the id alone does not tell the item's key. */
const hasId = (of: LogicalWrite, write: LogicalWrite): boolean => {
  if (!("of" in of) || !("of" in write) || of.of !== write.of || of.name !== write.name) return false;
  const [id, row] = [givenOf(of), givenOf(write)];
  return Object.keys(id).every((field) => sameValue(id[field], row[field]));
};

/**
 * Refuses writes of one call that write one item. Where a write has to read its item first and finds none, the call ends before
 * its steps are compared.
 *
 * @param failed the writes, by position, that failed
 * @throws {plan.unsupported}
 */
export const refuseWrittenTwice = (catalog: Catalog, writes: readonly LogicalWrite[], failed: readonly WriteFailure[]): void => {
  const absent = failed.filter(({ failure }) => failure.reason === "notFound");
  if (absent.length === 0) return;
  const keys = writes.map((write) => keysOf(catalog, write));
  for (const { write: at } of absent) {
    for (const [other, write] of writes.entries()) {
      if (other === at) continue;
      const shared = keys[at]!.find((key) => keys[other]!.some((one) => sameKey(one, key)));
      const key = shared ?? (keys[at]!.length === 0 && hasId(writes[at]!, write) ? keys[other]![0] : undefined);
      if (key) failWrittenTwice(key, [at, other]);
    }
  }
};
