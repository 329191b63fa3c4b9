import type { AttributeValue, Item } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";
import type { FindingKind } from "./finding.ts";
import { contentOf } from "./lab.test-support.ts";

/** One way to damage an item of the lab's table. */
export interface Damage {
  readonly name: string;
  readonly kind: FindingKind;
  /** Whether an item can be damaged so. */
  fits(item: Item): boolean;
  /** The damaged item; null: it is deleted. May give another item than the one that was given. */
  damage(item: Item, at: number): Item | null;
  /** What a repair makes of it: the item as it was (`restored`), none (`removed`), or as it is now (`left`). */
  readonly repaired: "restored" | "removed" | "left";
}

const S = (text: string): AttributeValue => ({ S: text });
const textAt = (item: Item, attribute: string): string => {
  const value = item[attribute];
  return value && "S" in value ? value.S : "";
};
const isType =
  (type: string) =>
  (item: Item): boolean =>
    textAt(item, "type") === type;
const without = (item: Item, ...attributes: readonly string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !attributes.includes(name)));
const hasAge = (item: Item): boolean => isType("person")(item) && "byAgePk" in item;
const long = { "~kind": S("load"), "~until": { N: "1000" }, "~runs": { N: "1" }, "~facts": { M: {} } };

// A key's form of a number other than 0: more digits make another one.
const isLongNumber = (key: string): boolean => /p\d+$/.test(key);
// The edge to a place that is not there, with the index keys of that edge.
const withOther = (item: Item, at: number): Item => {
  const [old, place] = [textAt(item, "sk").slice(8), `${textAt(item, "sk").slice(8)}9${at}1`];
  const replaced = Object.entries(item).map(([name, value]) => [name, "S" in value ? S(value.S.replace(old, place)) : value] as const);
  return Object.fromEntries(replaced);
};

/** Every way in which a table of the lab's model is damaged. */
export const damages: readonly Damage[] = [
  { name: "a second copy is gone", kind: "oneSided", fits: isType("~rated"), damage: () => null, repaired: "restored" },
  { name: "a first copy is gone", kind: "oneSided", fits: isType("rated"), damage: () => null, repaired: "removed" },
  {
    name: "a symmetric edge is half there",
    kind: "oneSided",
    fits: (item) => isType("knows")(item) && textAt(item, "pk") !== textAt(item, "sk").slice(6),
    damage: () => null,
    repaired: "restored",
  },
  {
    name: "copies differ",
    kind: "differing",
    fits: isType("~rated"),
    damage: (item) => ({ ...item, tags: { SS: ["c"] } }),
    repaired: "restored",
  },
  {
    name: "a copy lacks an attribute",
    kind: "differing",
    fits: isType("~rated"),
    damage: (item) => without(item, "tags"),
    repaired: "restored",
  },
  {
    name: "an edge leads nowhere",
    kind: "dangling",
    fits: (item) => isType("visited")(item) && isLongNumber(textAt(item, "sk")),
    damage: (item, at) => withOther(item, at),
    repaired: "removed",
  },
  {
    name: "a part has no node",
    kind: "orphanedPart",
    fits: (item) => isType("note")(item) && isLongNumber(textAt(item, "pk")),
    damage: (item, at) => ({ ...item, pk: S(`${textAt(item, "pk")}9${at}1`) }),
    repaired: "removed",
  },
  {
    name: "an index key is wrong",
    kind: "indexKey",
    fits: hasAge,
    damage: (item) => ({ ...item, byAgeSk: S("p11#PERSON#nobody") }),
    repaired: "restored",
  },
  {
    name: "an index entry is half there",
    kind: "indexKey",
    fits: hasAge,
    damage: (item) => without(item, "byAgePk"),
    repaired: "restored",
  },
  {
    name: "an index entry is gone",
    kind: "indexKey",
    fits: isType("visited"),
    damage: (item) => without(item, "gsi2pk", "gsi2sk"),
    repaired: "restored",
  },
  {
    name: "a mirror is gone",
    kind: "indexKey",
    fits: isType("place"),
    damage: (item) => without(item, "gsi1pk", "gsi1sk"),
    repaired: "restored",
  },
  {
    name: "an index entry is too much",
    kind: "indexKey",
    fits: isType("club"),
    damage: (item) => ({ ...item, gsi1pk: S("CLUB#x"), gsi1sk: S("#") }),
    repaired: "restored",
  },
  {
    name: "a shard is wrong",
    kind: "wrongShard",
    fits: hasAge,
    damage: (item) => ({ ...item, byAgePk: S(`person#${(Number(textAt(item, "byAgePk").slice(7)) + 1) % 4}`) }),
    repaired: "restored",
  },
  { name: "a type is missing", kind: "typeAttribute", fits: isType("club"), damage: (item) => without(item, "type"), repaired: "restored" },
  {
    name: "a copied value drifts",
    kind: "drift",
    fits: isType("person"),
    damage: (item) => ({ ...item, id: S("somebody") }),
    repaired: "left",
  },
  {
    name: "a value is invalid",
    kind: "invalid",
    fits: isType("note"),
    damage: (item) => ({ ...item, text: { N: "5" } }),
    repaired: "left",
  },
  { name: "a marker is gone", kind: "missingMarker", fits: isType("~unique"), damage: () => null, repaired: "restored" },
  {
    name: "a marker names another node",
    kind: "foreignMarker",
    fits: (item) => isType("~unique")(item) && textAt(item, "~owner") !== '["p0"]',
    damage: (item) => ({ ...item, "~owner": S('["p0"]') }),
    repaired: "restored",
  },
  {
    name: "a marker of no value",
    kind: "orphanedMarker",
    fits: isType("~unique"),
    damage: (item, at) => ({ ...item, pk: S(`${textAt(item, "pk")}y${at}`) }),
    repaired: "removed",
  },
  {
    name: "a count is wrong",
    kind: "wrongCount",
    fits: isType("~degree"),
    damage: (item) => ({ ...item, "~count": { N: "77" } }),
    repaired: "restored",
  },
  {
    name: "a guard has no node",
    kind: "idleGuard",
    fits: isType("~degree"),
    damage: (item, at) => ({ ...item, pk: S(`${textAt(item, "pk")}x${at}`), "~count": { N: "0" } }),
    repaired: "removed",
  },
  {
    name: "a deletion left its mark",
    kind: "deletionMark",
    fits: isType("club"),
    damage: (item) => ({ ...item, "~deleting": S("delete club") }),
    repaired: "restored",
  },
  {
    name: "a job is abandoned",
    kind: "abandonedJob",
    fits: () => true,
    damage: (_, at) => ({ pk: S("~job"), sk: S(`old ${at}`), type: S("~job"), ...long }),
    repaired: "removed",
  },
  {
    name: "a cursor has expired",
    kind: "expiredCursor",
    fits: () => true,
    damage: (_, at) => ({ pk: S(`~cursor#c${at}#0`), sk: S("#"), "~state": S("…"), "~expires": { N: "1000" } }),
    repaired: "removed",
  },
  {
    name: "an item of nobody",
    kind: "unclaimed",
    fits: isType("place"),
    damage: (_, at) => ({ pk: S(`PLACE#${at}`), sk: S("#"), type: S("palce") }),
    repaired: "removed",
  },
  {
    name: "an unreadable key",
    kind: "unclaimed",
    fits: isType("note"),
    damage: (item, at) => ({ ...item, sk: S(`NOTE#x${at}`) }),
    repaired: "removed",
  },
];

const keyOf = (item: Item): string => JSON.stringify([item["pk"], item["sk"]]);

/** A table that was damaged: what was done, and what a repair should leave. */
export interface Damaged {
  readonly done: readonly { readonly damage: Damage; readonly key: string }[];
  readonly before: ReadonlyMap<string, Item>;
  readonly expected: ReadonlyMap<string, Item>;
}

/** The items that an item's damage concerns: no two damages may meet. */
const concerns = (item: Item): readonly string[] => {
  const [pk, sk] = [textAt(item, "pk"), textAt(item, "sk")];
  // Both copies of an edge lie under the same two nodes.
  const ends =
    sk.startsWith("~rated#") || sk.startsWith("rated#") || sk.startsWith("knows#")
      ? [[pk, sk.slice(sk.indexOf("#") + 1)].toSorted().join(" ")]
      : [];
  return [keyOf(item), ...ends];
};

/** Damages a table at random places, as often as asked; every kind in turn. */
export const damageTable = async (
  { transport, table }: { readonly transport: Transport; readonly table: string },
  { times, random }: { readonly times: number; readonly random: () => number },
): Promise<Damaged> => {
  const before = await contentOf(transport, table);
  const all = [...before.values()];
  const expected = new Map(before);
  const touched = new Set<string>();
  const done: { damage: Damage; key: string }[] = [];
  for (let at = 0; done.length < times && at < times * 500; at++) {
    const damage = damages[done.length % damages.length]!;
    const item = all[Math.floor(random() * all.length)]!;
    if (!damage.fits(item) || concerns(item).some((one) => touched.has(one))) continue;
    const damaged = damage.damage(item, at);
    if (damaged && keyOf(damaged) !== keyOf(item) && (expected.has(keyOf(damaged)) || before.has(keyOf(damaged)))) continue;
    for (const one of concerns(item)) touched.add(one);
    if (damaged) await transport.send("PutItem", { TableName: table, Item: damaged });
    else await transport.send("DeleteItem", { TableName: table, Key: { pk: item["pk"]!, sk: item["sk"]! } });
    done.push({ damage, key: keyOf(damaged ?? item) });
    if (damage.repaired === "left" && damaged) expected.set(keyOf(item), damaged);
    if (damage.kind === "drift") expected.set(keyOf(item), { ...damaged, id: S(textAt(item, "pk").slice(7)) });
    // Without its first copy, the second one goes too.
    if (damage.name === "a first copy is gone") {
      const [pk, sk] = [textAt(item, "pk"), textAt(item, "sk")];
      expected.delete(keyOf(item));
      expected.delete(JSON.stringify([S(sk.slice(6)), S(`~rated#${pk}`)]));
    }
  }
  return { done, before, expected };
};
