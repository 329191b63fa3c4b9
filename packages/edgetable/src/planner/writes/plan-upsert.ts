import type { Expected, UpsertEdgeWrite, UpsertWrite } from "../../ir/logical-write.ts";
import type { Failure } from "../../ir/write-plan.ts";
import { isOfShape } from "../../requests/decode-item.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { planLink, planRelink } from "./plan-edge.ts";
import { planCreate, planUpdate } from "./plan-item.ts";
import { edgeCopies, type EdgeCopy, isOtherEdge } from "./rules/edge-copies.ts";
import {
  type EdgeBetween,
  EXISTS,
  imageOf,
  isGone,
  knownImage,
  locate,
  type Planned,
  type Subject,
  subjectOf,
  type WorkingSet,
} from "./working-set.ts";

// The write requires what was guessed. An item that shows otherwise refuses it, and is planned with from then on.
const GUESSED: Failure = { reason: "staleRead", guessed: true };

/** The two writes of an upsert, planned by the term or failure under which they are planned anew. */
interface Choice {
  readonly expect: Expected;
  readonly create: () => Planned;
  readonly update: () => Planned;
}

const choose = (working: WorkingSet, { shape }: Pick<EdgeCopy, "shape">, image: Item | null | undefined, choice: Choice): Planned => {
  const isNew = image === undefined ? choice.expect === "new" : isGone(working, image);
  if (image && !isOfShape(working.catalog, shape, image)) return { kind: "failure", failure: EXISTS };
  const planned = isNew ? choice.create() : choice.update();
  if (planned?.kind === "staged") return { ...planned, created: isNew };
  // Rules read the item before a change; it may not be there.
  return planned?.failure.reason === "notFound" && !isNew ? choose(working, { shape }, null, choice) : planned;
};

const known = (working: WorkingSet, key: Key | null): Item | null | undefined => (key === null ? null : knownImage(working, key));

/** Creates a node or part if there is none, else changes it. */
export const planUpsert = (working: WorkingSet, write: UpsertWrite): Planned => {
  const { create, update, expect } = write;
  const { entry } = subjectOf(working.catalog, write) as Exclude<Subject, EdgeBetween>;
  const key = locate(working, entry.shape, update.id);
  if (key === undefined) return undefined;
  return choose(working, entry, known(working, key), {
    expect,
    create: () => planCreate(working, create, GUESSED),
    update: () => planUpdate(working, update, GUESSED),
  });
};

/** Links an edge if there is none, else changes it. */
export const planUpsertEdge = (working: WorkingSet, write: UpsertEdgeWrite): Planned => {
  const { create, update, expect } = write;
  const [own] = edgeCopies(subjectOf(working.catalog, write) as EdgeBetween, update.key);
  const { shape } = own;
  const key = locate(working, shape, own.row);
  if (key === undefined) return undefined;
  let image = known(working, key);
  // An edge to another node may lie under its key.
  if (key && shape.unkeyed.length > 0) {
    image = imageOf(working, { shape, key }, "its key does not name both ends");
    if (image === undefined) return undefined;
    if (image && isOtherEdge(working, own, image)) return { kind: "failure", failure: EXISTS };
  }
  return choose(working, own, image, {
    expect,
    create: () => planLink(working, create, GUESSED),
    update: () => planRelink(working, update, GUESSED),
  });
};
