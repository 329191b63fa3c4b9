import type { AnyEdge } from "./edge.ts";
import type { Layout } from "./layout.ts";
import type { AnyNode } from "./node.ts";
import type { AnyPart } from "./part.ts";
import type { ValueIndex } from "./value-index.ts";

/** A model as the user wrote it, with its types forgotten. */
export interface GraphDefinition {
  /** The table's name: 3 to 255 characters of a-z, A-Z, 0-9, `_`, `-` and `.` (HowItWorks.NamingRulesDataTypes). */
  readonly table: string;
  readonly nodes: Readonly<Record<string, AnyNode>>;
  readonly edges?: Readonly<Record<string, AnyEdge>>;
  readonly parts?: Readonly<Record<string, AnyPart>>;
  /** Indexes by value, in Edgetable's own layout. */
  readonly indexes?: Readonly<Record<string, ValueIndex>>;
  /** The layout of an existing table. @default Edgetable's own */
  readonly layout?: Layout;
}

/** The node types at one end of an edge, as a list. */
export const endTypes = (end: string | readonly string[]): readonly string[] => (typeof end === "string" ? [end] : end);
