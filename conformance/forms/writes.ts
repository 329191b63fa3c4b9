import { expect } from "vitest";
import type { Command, Write } from "./commands.ts";
import { valueAt } from "./conditions.ts";
import { edgeTypeOf, edgeTypes, endOf, type NaiveEdge, type NodeType, type Row } from "./vocabulary.ts";
import { clean, endAt, endRow, pick, type World } from "./world.ts";

type EdgeWrite = Extract<Command, { readonly value: number; readonly km: number | undefined }>;
interface Outcome {
  readonly ok: boolean;
}

// An adopted layout refuses half of a key; in Edgetable's own the edge is just not there.
const referenceOf = (world: World, { type, refers, half }: Write): Row => {
  if (type === "doc") return { parentId: refers === undefined ? undefined : pick(world.ids.doc, refers)["docId"] };
  if (type !== "visit") return {};
  const { line, n, day } = refers === undefined ? ({} as Row) : pick(world.ids.stop, refers);
  return { line, stopN: n, stopDay: half && world.place.own ? undefined : day };
};

const attributesOf = (world: World, command: Write): Row => {
  const { type, text, value, size } = command;
  const own: Readonly<Record<NodeType, Row>> = {
    area: {},
    stop: { name: pick(world.texts, text) },
    doc: { title: pick(world.texts, text), rank: valueAt(world, "rank", value) },
    visit: {},
  };
  return { ...own[type], ...referenceOf(world, command), size: size === undefined ? undefined : valueAt(world, "size", size) };
};

/** Creates, puts or changes a node. */
export const writeNode = async (world: World, command: Write): Promise<void> => {
  const { kind, type, id } = command;
  const end = endAt(world, type, id);
  const before = world.graph.node(end);
  const attributes = attributesOf(world, command);
  if (kind === "update") {
    const remove = Object.keys(attributes).filter((field) => attributes[field] === undefined);
    const outcome: Outcome = await world.db[type].update(end.id, { set: clean(attributes), ...(remove.length > 0 ? { remove } : {}) });
    expect(outcome.ok, JSON.stringify(command)).toBe(before !== undefined);
    if (before) world.graph.putNode({ ...end, row: clean({ ...before.row, ...attributes }) });
    return;
  }
  const row = clean({ ...(end.id as Row), ...attributes });
  const outcome: Outcome = await world.db[type][kind](row);
  expect(outcome.ok, JSON.stringify(command)).toBe(kind === "put" || before === undefined);
  if (outcome.ok) world.graph.putNode({ ...endOf(type, row), row });
};

/** Deletes a node with what goes along. */
export const deleteNode = async (world: World, command: Extract<Command, { readonly kind: "delete" }>): Promise<void> => {
  const end = endAt(world, command.type, command.id);
  const outcome: Outcome = await world.db[command.type].delete(end.id, { indexLag: 0 });
  expect(outcome.ok, JSON.stringify(command)).toBe(world.graph.deleteNode(end));
};

/** The edge that a command points at. */
export const edgeAt = (world: World, command: Pick<EdgeWrite, "edge" | "from" | "to" | "role">): NaiveEdge => {
  const { edge, from, to, role } = command;
  const type = edgeTypes[edge];
  const key = type.key ? { role: pick(world.texts, role >> 1), shift: [-0.5, 1e21][role % 2] } : {};
  return { edge, from: endAt(world, pick(type.from, from), from), to: endAt(world, pick(type.to, to), to), attributes: key };
};

export const keyOf = ({ edge, attributes }: NaiveEdge): Row | undefined => (edgeTypeOf(edge).key ? attributes : undefined);

/** Links, changes or removes an edge; of a reference, sees it refused. */
export const writeEdge = async (world: World, command: EdgeWrite): Promise<void> => {
  const { edge, kind, value, km } = command;
  const bare = edgeAt(world, command);
  const { orderBy, reference } = edgeTypes[edge];
  const [from, to] = [endRow(edge, bare.from), endRow(edge, bare.to)];
  const api = world.db[edge];
  const label = JSON.stringify(command);
  if (reference) {
    expect(() => api.link(from, to, {}), label).toThrow(expect.objectContaining({ code: "plan.unsupported" }));
    return;
  }
  const changes = {
    ...(orderBy === undefined ? {} : { [orderBy]: valueAt(world, orderBy, value) }),
    km: km === undefined ? undefined : valueAt(world, "km", km),
  };
  const before = world.graph.edge(bare);
  const whole: NaiveEdge = { ...bare, attributes: clean({ ...bare.attributes, ...changes }) };
  const both = world.graph.node(bare.from) !== undefined && world.graph.node(bare.to) !== undefined;
  if (kind === "link" || kind === "put edge") {
    const outcome: Outcome = await api[kind === "link" ? "link" : "put"](from, to, whole.attributes);
    expect(outcome.ok, label).toBe(both && (kind === "put edge" || before === undefined));
    if (outcome.ok) world.graph.putEdge(whole);
    return;
  }
  const key = keyOf(bare);
  const change = { set: clean(changes), ...(km === undefined ? { remove: ["km"] } : {}) };
  const addressed = key ? { key } : {};
  const outcome: Outcome = await (kind === "relink" ? api.relink(from, to, change, addressed) : api.unlink(from, to, addressed));
  expect(outcome.ok, label).toBe(before !== undefined);
  if (!before) return;
  if (kind === "unlink") world.graph.deleteEdge(before);
  else world.graph.putEdge({ ...before, attributes: clean({ ...before.attributes, ...changes }) });
};
