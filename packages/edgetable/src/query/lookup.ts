import type { Collection, Lookup } from "../ir/logical-plan.ts";

/** A lookup of whole ids: of nodes with the names of further fields that their key needs, or of edges. */
export type LookupState = Pick<Lookup, "name" | "many" | "given" | "consistent"> & { readonly of: "node" | "edge" };

/** The logical plan of a lookup. */
export const lookupPlan = (state: LookupState): Lookup => ({ kind: "lookup", ...state });

/** The form of a lookup: two of the same form have the same plan, whatever their ids. */
export const lookupForm = ({ of, name, many, given, consistent }: LookupState): string =>
  `${of}|${name}|${given.join()}|${many ? 1 : 0}${consistent ? 1 : 0}`;

/** A node with everything in its partition of the table, or of an index. */
export type CollectionState = Omit<Collection, "kind">;

/** The logical plan of a collection. */
export const collectionPlan = (state: CollectionState): Collection => ({ kind: "collection", ...state });

/** The form of a collection. */
export const collectionForm = ({ node, direction, index, consistent }: CollectionState): string =>
  `collection|${node}|${direction}|${index ?? ""}|${consistent ? 1 : 0}`;
