import { isEdgetableError } from "../errors/edgetable-error.ts";
import { holds } from "../ir/holds.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import { type Failure, type Images, keyId, type Term } from "../ir/write-plan.ts";
import { isConditional } from "../planner/writes/plan-write.ts";
import { edgeCopies } from "../planner/writes/rules/edge-copies.ts";
import { guardTerms, locate, openWorkingSet, subjectOf } from "../planner/writes/working-set.ts";
import { decodeItem } from "../requests/decode-item.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import type { Item } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";
import { isMet } from "./failed-term.ts";
import { readRow } from "./read-rows.ts";
import type { CallContext, Session } from "./session.ts";

/** A write, by its position in the call, whose condition does not hold of the row that was read. */
interface Unmet {
  readonly write: number;
  readonly failure: Failure;
  readonly current: Row | undefined;
}

type Guarded = LogicalWrite & { readonly guards: object };

/** A row of the call that was read, by what names it. */
const readItem = (catalog: Catalog, write: Guarded, images: Images): { readonly shape: Shape; readonly image: Item } | undefined => {
  const subject = subjectOf(catalog, write);
  const id = "id" in write ? write.id : "key" in write ? write.key : (write as { readonly row: Row }).row;
  const { shape, row } = subject.kind === "edge" ? edgeCopies(subject, id)[0] : { shape: subject.entry.shape, row: id };
  const key = locate(openWorkingSet(catalog, images), shape, row);
  const image = key ? images[keyId(key)] : undefined;
  return image ? { shape, image } : undefined;
};

const failureOf = (terms: readonly Term[], row: Row, image: Item): Failure | undefined =>
  terms.find((term) =>
    term.kind === "where"
      ? !term.conditions.conditions.every((condition) => holds(condition, row, term.conditions.values))
      : !isMet(term, image),
  )?.failure;

/**
 * The outcome of writes whose rows, as changed, cannot be stored, where the caller's own conditions do not hold of what was
 * read: DynamoDB looks at conditions first.
 *
 * @param images what was read
 * @throws the given error where all conditions hold, or where it does not concern the rows
 */
export const judgeGuards = (
  { session, context }: { readonly session: Session; readonly context: CallContext },
  { writes, images, error }: { readonly writes: readonly LogicalWrite[]; readonly images: Images; readonly error: unknown },
): { readonly ok: false; readonly failed: readonly Unmet[] } => {
  const isOfRow = isEdgetableError(error) && /^(?:schema|keys|request|execute[.]rejected)/.test(error.code);
  if (!isOfRow || Object.keys(images).length === 0) throw error;
  const { catalog } = session;
  const reading = { unknown: context.reading?.unknown, onStray: "skip" } as const;
  const failed = writes.flatMap((given, write): readonly Unmet[] => {
    const one = "update" in given ? given.update : given;
    if (!isConditional(one) || !("guards" in one)) return [];
    const read = readItem(catalog, one, images);
    const failure = read && failureOf(guardTerms(read.shape, one.guards), decodeItem(catalog, read.shape, read.image), read.image);
    if (!failure) return [];
    return [{ write, failure, current: readRow({ session, context: { ...context, reading } }, [read.shape, read.image]) }];
  });
  if (failed.length === 0) throw error;
  return { ok: false, failed };
};
