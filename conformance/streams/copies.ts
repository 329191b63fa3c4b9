import type { Random } from "@edgetable/testing";
import { type History, type Scene, type Task, interleave, longestTask, type Trouble } from "./interleave.ts";

/** How a late copy is kept from replacing a newer one. */
export type CopyDesign =
  /** The source counts its changes, and a copy carries the count at which it was made. */
  | "stamps"
  /** The copy counts its own changes: the copier reads it, then the source, and writes if the copy is as read. */
  | "revisions";

/** The rules of both designs, each of which a test breaks. The values say what is done instead. */
export type BrokenCopyRule =
  | "copies have no stamp"
  | "the stamps of different sources are compared"
  | "stamps restart when a source is created again"
  | "writers leave the stamp as it is"
  | "the index is read only once"
  | "a new edge's record does not read its source"
  | "the source is read before the copy"
  | "nothing is written if the copy is right"
  | "the revisions of a copy restart with its edge";

interface Source {
  readonly name: string;
  readonly stamp: number;
}

interface Edge {
  readonly source: string;
  readonly copy: string;
  /** Its source's stamp, or its own revision. */
  readonly version: number | undefined;
}

interface World {
  readonly random: Random;
  readonly design: CopyDesign;
  readonly broken: BrokenCopyRule | undefined;
  /** Writers that know neither stamps nor copies. */
  readonly oldWriters: boolean;
  readonly sources: Map<string, Source>;
  readonly edges: Map<string, Edge>;
  /** Edges as the index shows them, which is a while ago. */
  readonly index: Map<string, string>;
  readonly indexed: { readonly key: string; readonly source: string | undefined; readonly at: number }[];
  records: Change[];
  now: number;
}

type Change = { readonly kind: "edge"; readonly key: string } | { readonly kind: "source"; readonly key: string; readonly at: number };

/** How many turns an index may be behind, at most. */
const indexLag = 15;
const edgeKeys = ["e1", "e2", "e3"];
const sourceKeys = ["S", "T"];

const setEdge = (world: World, key: string, edge: Edge | undefined, byCopier = false): void => {
  const before = world.edges.get(key);
  // A write that changes nothing makes no record.
  if (JSON.stringify(before) === JSON.stringify(edge)) return;
  if (edge) world.edges.set(key, edge);
  else world.edges.delete(key);
  // One item's changes reach the index in their order.
  const at = Math.max(world.now + Math.floor(world.random() * indexLag), world.indexed.findLast((entry) => entry.key === key)?.at ?? 0);
  if (before?.source !== edge?.source) world.indexed.push({ key, source: edge?.source, at });
  // A write that keeps the source and moves the version forward needs no refresh, whoever made it.
  const isNewer = before?.source === edge?.source && edge?.version !== undefined && edge.version > (before?.version ?? -1);
  if (edge && !isNewer && !byCopier) world.records.push({ kind: "edge", key });
};

const setSource = (world: World, key: string, source: Source | undefined): void => {
  if (source) world.sources.set(key, source);
  else world.sources.delete(key);
  world.records.push({ kind: "source", key, at: world.now });
};

/** Updates the copy if the edge exists, still belongs to the source, and has no newer one. */
function* writeStamped(world: World, key: string, of: string): Task {
  const { broken } = world;
  const source = world.sources.get(of);
  yield `reads ${of} for ${key}: ${String(source?.name)}, stamp ${String(source?.stamp)}`;
  if (!source) return;
  const { name, stamp } = source;
  const edge = world.edges.get(key);
  const moved = broken !== "the stamps of different sources are compared" && edge?.source !== of;
  const isNewer = broken !== "copies have no stamp" && (edge?.version ?? -1) > stamp;
  if (edge && !moved && !isNewer) setEdge(world, key, { ...edge, copy: name, version: stamp }, true);
  yield `writes ${key}: ${name}, stamp ${String(stamp)}`;
}

/** Brings one copy up to date: reads it, then its source, and writes if it is as read. */
function* writeRevised(world: World, key: string): Task {
  const { broken } = world;
  for (;;) {
    const early = world.sources.get(world.edges.get(key)?.source ?? "");
    if (broken === "the source is read before the copy") yield `reads the source of ${key}: ${String(early?.name)}`;
    const edge = world.edges.get(key);
    yield `reads ${key}: ${String(edge?.copy)}, revision ${String(edge?.version)}`;
    const source = broken === "the source is read before the copy" ? early : world.sources.get(edge?.source ?? "");
    yield `reads the source of ${key}: ${String(source?.name)}`;
    if (!edge || !source || (broken === "nothing is written if the copy is right" && edge.copy === source.name)) return;
    const current = world.edges.get(key);
    if (current?.version === edge.version) {
      // An edge that is created again must not repeat the revisions of the one before.
      const first = broken === "the revisions of a copy restart with its edge" ? 1 : world.now * 1_000;
      const version = edge.version === undefined ? first : edge.version + 1;
      if (current) setEdge(world, key, { ...current, copy: source.name, version }, true);
      return yield `writes ${key}: ${source.name}, revision ${String(version)}`;
    }
    yield `finds ${key} changed`;
  }
}

function* refreshEdge(world: World, key: string): Task {
  if (world.design === "revisions") return yield* writeRevised(world, key);
  yield* writeStamped(world, key, world.edges.get(key)?.source ?? "");
}

/** Updates the copies of all edges that the index shows. */
function* refreshSource(world: World, key: string): Task {
  const edges = [...world.index].filter(([, of]) => of === key).map(([edge]) => edge);
  yield `finds ${edges.join(", ")}`;
  for (const edge of edges)
    if (world.design === "revisions") yield* writeRevised(world, edge);
    else yield* writeStamped(world, edge, key);
}

function* process(world: World, change: Change): Task {
  if (change.kind === "edge") {
    if (world.broken !== "a new edge's record does not read its source") yield* refreshEdge(world, change.key);
    return;
  }
  const early = world.now < change.at + indexLag;
  yield* refreshSource(world, change.key);
  // An edge that was linked before the change may reach the index only now. Later ones read the source themselves.
  if (!early || world.broken === "the index is read only once") return;
  while (world.now < change.at + indexLag) yield "waits for the index";
  yield* refreshSource(world, change.key);
}

const nextStamp = (world: World, before: Source | undefined): number => {
  if (before) return before.stamp + (world.broken === "writers leave the stamp as it is" ? 0 : 1);
  return world.broken === "stamps restart when a source is created again" ? 1 : world.now * 1_000;
};

/** One user's random calls. A link reads its source and then writes the edge, so that a rename can come between. */
function* use(world: World, calls: number): Task {
  const { random } = world;
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? "";
  for (let call = 0; call < calls; call++) {
    const [dice, key, edge, name] = [random(), pick(sourceKeys), pick(edgeKeys), pick(["x", "y", "z"])];
    const before = world.sources.get(key);
    if (dice < 0.4) {
      const isOld = world.oldWriters && random() < 0.5;
      setSource(world, key, { name, stamp: isOld ? (before?.stamp ?? 0) : nextStamp(world, before) });
      yield `${before ? "renames" : "creates"} ${key}: ${name}`;
    } else if (dice < 0.5) {
      if (before) setSource(world, key, undefined);
      yield `deletes ${key}`;
    } else if (dice < 0.85) {
      yield `reads ${key} for a link: ${String(before?.name)}`;
      if (!before) continue;
      const version = world.design === "stamps" ? before.stamp : undefined;
      setEdge(world, edge, { source: key, copy: before.name, version });
      yield `links ${edge} to ${key}: ${before.name}`;
    } else {
      setEdge(world, edge, undefined);
      yield `unlinks ${edge}`;
    }
  }
}

/** Runs one random history of edges that carry their source's name while sources are renamed, deleted and created again. */
export const runCopies = (
  random: Random,
  trouble: Trouble,
  { design, broken, oldWriters = false }: { readonly design: CopyDesign; readonly broken?: BrokenCopyRule; readonly oldWriters?: boolean },
): History => {
  const world: World = {
    random,
    design,
    broken,
    oldWriters,
    sources: new Map(sourceKeys.map((key) => [key, { name: "x", stamp: 0 }])),
    edges: new Map(),
    index: new Map(),
    indexed: [],
    records: [],
    now: 0,
  };
  const scene: Scene<Change> = {
    users: [use(world, 4), use(world, 4)],
    takeRecords: () => world.records.splice(0),
    process: (record) => process(world, record),
    repair: () => edgeKeys.map((key) => ({ kind: "edge", key })),
    repairDelay: longestTask + 1,
    tick(now) {
      world.now = now;
      for (const entry of world.indexed.filter(({ at }) => at <= now)) {
        world.indexed.splice(world.indexed.indexOf(entry), 1);
        if (entry.source === undefined) world.index.delete(entry.key);
        else world.index.set(entry.key, entry.source);
      }
    },
  };
  const lines = interleave(random, scene, trouble);
  const complaints = [...world.edges].flatMap(([key, { source, copy }]) => {
    const name = world.sources.get(source)?.name;
    return name === undefined || name === copy ? [] : [`${key} says ${copy} where ${source} is ${name}`];
  });
  return { complaints, lines };
};
