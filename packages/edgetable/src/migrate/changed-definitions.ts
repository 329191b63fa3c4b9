import type { RecordedModel } from "../executor/model-record.ts";
import { type Catalog, keyAttributes } from "../schema/catalog.ts";
import { describedEntry, type ModelDescription } from "../schema/describe-model.ts";

const STORAGE = {
  once: "once",
  twice: "twice",
  symmetric: "without direction, with an item at either end",
  reference: "in the items of their sources",
} as const;

const RECREATE = "Declare it under another name and copy the edges with db.scan and db.load.";

interface StorageChanges {
  readonly refusals: readonly string[];
  readonly notes: readonly string[];
}

/** Edges whose items the model stores otherwise: their other ends would read empty, or in part. */
export const changedStorage = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): StorageChanges => {
  const refusals: string[] = [];
  const notes: string[] = [];
  if (!current) return { refusals, notes };
  const { edges: recorded, items } = current.model;
  for (const { name, shapes, mirrors } of Object.values(catalog.edges)) {
    const now = model.edges?.[name] ?? "once";
    // An older record does not name the storage. Its items tell whether there are second copies.
    const isMirrored = Object.keys(items).some((id) => id.endsWith(":mirror") && id.split(/[(:]/)[0] === name);
    const isInferred = recorded === undefined && (now === "once" || now === "twice") && shapes.some(({ id }) => items[id]);
    const then = isInferred ? (isMirrored ? "twice" : "once") : recorded?.[name];
    if (then === undefined) continue;
    if (then === "twice" && now === "once")
      notes.push(
        `The second copies of "${name}" are not needed any more and stay. Once the migration has ended, edgetable verify --repair --delete-orphans deletes them, as it does whatever else the model does not describe.`,
      );
    else if (then !== now)
      refusals.push(
        `Edges of "${name}" are stored ${STORAGE[then]}, and the model stores them ${STORAGE[now]}: reads from one end would miss those that are there. ${RECREATE}`,
      );
    for (const { id, copied } of [...shapes, ...mirrors]) {
      const held = items[id]?.copied;
      if (held && (!copied || copied.some((attribute) => !held.includes(attribute))))
        refusals.push(
          `"${id}" holds ${held.map((attribute) => `"${attribute}"`).join(", ")} alone, and the model reads more from it: sides would lack attributes. ${RECREATE}`,
        );
    }
  }
  return { refusals, notes };
};

/** Kinds of items that the model no longer has. It cannot judge their items, so that nothing happens to them. */
export const droppedKinds = (catalog: Catalog, current: RecordedModel | undefined, model: ModelDescription): readonly string[] => {
  const wanted = new Set(catalog.indexes.map(({ name }) => name));
  const recorded = current?.model;
  // With more or fewer ends, a kind goes by another name and has the same keys.
  const keysOf = ({ keys }: ModelDescription["items"][string]): string =>
    keyAttributes(catalog.index)
      .map((name) => keys[name])
      .join("\n");
  const claimed = new Set(Object.values(model.items).map(keysOf));
  return Object.keys(recorded?.items ?? {}).flatMap((id): readonly string[] => {
    if (!recorded || model.items[id] || id.endsWith(":mirror") || claimed.has(keysOf(recorded.items[id]!))) return [];
    const indexes = Object.entries(recorded.indexes).flatMap(([name, index]) =>
      wanted.has(name) && describedEntry(recorded, index, id) ? [`"${name}"`] : [],
    );
    const keys = indexes.length > 0 ? `, with their keys in ${indexes.join(", ")}` : "";
    return [
      `The model has no "${id}": items of it stay${keys}. Delete them by a program of the model that has it, or by edgetable verify --repair --delete-orphans, which deletes whatever the model does not describe.`,
    ];
  });
};
