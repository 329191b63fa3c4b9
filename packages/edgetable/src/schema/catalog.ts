import type { GraphDefinition } from "./definition.ts";
import type { AnyEdge } from "./edge.ts";
import type { Layout } from "./layout.ts";
import type { AnyNode } from "./node.ts";
import type { AnyPart } from "./part.ts";
import type { Index, Shape, TableIndex } from "./shape.ts";

export interface NodeEntry {
  readonly name: string;
  readonly definition: AnyNode;
  readonly shape: Shape;
  /** Field names of the id, in the key's order. */
  readonly idFields: readonly string[];
}

export interface PartEntry {
  readonly name: string;
  readonly definition: AnyPart;
  readonly shape: Shape;
  /** Field names of the part's id within its owner. */
  readonly idFields: readonly string[];
}

export interface EdgeEntry {
  readonly name: string;
  readonly definition: AnyEdge;
  /** Node types at each end. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The copies in sources' partitions (or inside sources' items), one for each pair of node types. */
  readonly shapes: readonly Shape[];
  /** For an edge stored twice: the copies in targets' partitions. */
  readonly mirrors: readonly Shape[];
  /** The attribute to order by, without its format. */
  readonly orderBy: string | undefined;
  readonly key: readonly string[];
}

/** A model with its layout resolved: the one description that planner, executor and tools share. */
export interface Catalog {
  readonly table: string;
  readonly index: TableIndex;
  readonly indexes: readonly Index[];
  readonly typeAttribute: string | undefined;
  /** The attribute by which DynamoDB removes expired items (TTL). */
  readonly ttl: string | undefined;
  readonly layout: Layout;
  /** True for Edgetable's own layout, whose keys are escaped; false for an adopted one. */
  readonly escapes: boolean;
  readonly nodes: Readonly<Record<string, NodeEntry>>;
  readonly edges: Readonly<Record<string, EdgeEntry>>;
  readonly parts: Readonly<Record<string, PartEntry>>;
  /** Every shape that has items of its own. */
  readonly shapes: readonly Shape[];
  /** Every shape by its id, reference edges included. */
  readonly shapesById: Readonly<Record<string, Shape>>;
  readonly definition: GraphDefinition;
}

/** The definition behind a shape. */
export const definitionOf = ({ nodes, edges, parts }: Catalog, { kind, definition }: Shape): AnyNode | AnyEdge | AnyPart | undefined =>
  ({ node: nodes, edge: edges, part: parts })[kind][definition]?.definition;
