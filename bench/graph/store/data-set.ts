import type { ConnectOptions } from "edgetable";
import { fan } from "../graphs/fan.ts";
import { linkBench } from "../graphs/linkbench.ts";
import type { Graph } from "../graphs/graph.ts";
import { plant } from "../graphs/plant.ts";
import { scaleFree } from "../graphs/scale-free.ts";
import { taskRows, tasks } from "../scatter/model.ts";
import { links, social } from "./model.ts";
import { linksRows, socialRows } from "./rows.ts";

/** A table's rows and the library's own way of writing them. */
export interface DataSet {
  /** Says everything that the rows follow from. */
  readonly name: string;
  readonly table: string;
  /** Makes the table as the library makes it. */
  create(options: ConnectOptions): Promise<void>;
  /** Writes the rows, the first `most` or all, by `db.load`. */
  load(options: ConnectOptions, most?: number): Promise<void>;
}

/** A data set that is a graph. */
export interface GraphSet extends DataSet {
  readonly graph: () => Graph;
}

interface Loader<Row> {
  load(rows: Iterable<Row>, options: { readonly collisions: "ignore" }): Promise<{ readonly failures: readonly object[] }>;
  close(): Promise<void>;
}

function* firstOf<Row>(rows: Iterable<Row>, most: number): Generator<Row> {
  let left = most;
  for (const row of rows) {
    if (left-- <= 0) return;
    yield row;
  }
}

const loadInto = async <Row>(db: Loader<Row>, rows: Iterable<Row>): Promise<void> => {
  const { failures } = await db.load(rows, { collisions: "ignore" });
  await db.close();
  if (failures.length > 0) throw new Error(`the load left out ${failures.length} rows or more`);
};

const createBy = async (db: Pick<ReturnType<typeof social.connect>, "table" | "close">): Promise<void> => {
  await db.table.create();
  await db.close();
};

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => (made ??= make());
};

export interface Size {
  readonly nodes: number;
  readonly edges: number;
  readonly seed: number;
}

/** The scale-free graph with the planted neighbourhood. */
export const socialSet = (size: Size): GraphSet => {
  const graph = once(() => plant(scaleFree(size)));
  return {
    name: `social-${size.nodes}-${size.edges}-${size.seed}`,
    table: "Social",
    graph,
    create: (options) => createBy(social.connect(options)),
    load: (options, most = Infinity) => loadInto(social.connect(options), firstOf(socialRows(graph()), most)),
  };
};

/** The edges of a tree whose last level has so many ids. */
export const fanSet = (size: { readonly ids: number; readonly width: number }): GraphSet => {
  const graph = once(() => fan(size));
  return {
    name: `fan-${size.ids}-${size.width}`,
    table: "Social",
    graph,
    create: (options) => createBy(social.connect(options)),
    load: (options, most = Infinity) => loadInto(social.connect(options), firstOf(socialRows(graph(), "edges"), most)),
  };
};

/** The graph with LinkBench's out-degrees. */
export const linksSet = (size: Omit<Size, "edges">): GraphSet => {
  const graph = once(() => linkBench(size));
  return {
    name: `links-${size.nodes}-${size.seed}`,
    table: "Links",
    graph,
    create: (options) => createBy(links.connect(options)),
    load: (options, most = Infinity) => loadInto(links.connect(options), firstOf(linksRows(graph()), most)),
  };
};

/** Tasks in an index of one partition and in one of sixteen. */
export const tasksSet = (count: number): DataSet => ({
  name: `tasks-${count}`,
  table: "Tasks",
  create: (options) => createBy(tasks.connect(options)),
  load: (options, most = Infinity) => loadInto(tasks.connect(options), firstOf(taskRows(count), most)),
});
