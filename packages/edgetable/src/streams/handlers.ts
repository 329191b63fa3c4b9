import type { AnyGraph } from "../client/define-graph.ts";
import type { Edges, EdgesInGraph, Ends, Nodes, PartRow, Parts } from "../client/graph-types.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Catalog } from "../schema/catalog.ts";
import { attributeNames } from "../schema/standard-schema.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { listOf, namesIn, oneOf } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";
import type { ChangeEvent, EventKind, UnknownEvent } from "./events.ts";
import type { StreamRecord } from "./record.ts";

/** The members of every event. */
interface Occurrence {
  /** The change as the stream recorded it: key, images, time, sequence. */
  readonly record: StreamRecord;
  /** When the change was made, to the second. */
  readonly time: Date;
  /** True if it is replayed from a dead letter, and may therefore be older than later events that the handler has seen. */
  readonly replayed: boolean;
  /** Aborted when the handler's time is up or the consumer stops. */
  readonly signal: AbortSignal;
}

interface Made<Row> {
  readonly before: undefined;
  readonly after: Row;
}
interface Changed<Row> {
  readonly before: Row;
  readonly after: Row;
}
interface Removed<Row> {
  readonly before: Row;
  readonly after: undefined;
}

/** One kind of event of one definition. */
interface Typed<Of, Name, Kind, Row> extends Occurrence {
  readonly of: Of;
  readonly name: Name;
  readonly kind: Kind;
  /** The attributes that differ between `before` and `after`; for a new or removed row, all its attributes. */
  readonly changed: readonly (keyof Row & string)[];
}

/** The events of a node or a part, by their kind. */
interface RowEvents<Of, Name, Row> {
  readonly created: Typed<Of, Name, "created", Row> & Made<Row>;
  readonly updated: Typed<Of, Name, "updated", Row> & Changed<Row>;
  readonly deleted: Typed<Of, Name, "deleted", Row> & Removed<Row>;
  readonly expired: Typed<Of, Name, "expired", Row> & Removed<Row>;
}
/** The events of an edge, by their kind. */
interface EdgeEvents<Name, Row> {
  readonly linked: Typed<"edge", Name, "linked", Row> & Made<Row>;
  readonly relinked: Typed<"edge", Name, "relinked", Row> & Changed<Row>;
  readonly unlinked: Typed<"edge", Name, "unlinked", Row> & Removed<Row>;
  readonly expired: Typed<"edge", Name, "expired", Row> & Removed<Row>;
}

/** The events of each definition of a graph, by its name and their kind. */
export type EventsInGraph<N extends Nodes, E extends Edges, P extends Parts> = {
  readonly [Name in keyof N & string]: RowEvents<"node", Name, N[Name]["~types"]["row"]>;
} & { readonly [Name in keyof E & string]: EdgeEvents<Name, EdgesInGraph<Ends<N, P>, E>[Name]["edge"]> } & {
  readonly [Name in keyof P & string]: RowEvents<"part", Name, PartRow<N, P[Name]> & N[P[Name]["of"]]["~types"]["id"]>;
};

/** Any event of a graph, of a kind that the model knows. */
export type AnyEvent<Events> = { readonly [Name in keyof Events]: Events[Name][keyof Events[Name]] }[keyof Events];

type Handles<Event> = (event: Event) => unknown;

/** A change of an item that the model does not know. */
export type UnknownChange = UnknownEvent & Occurrence;

/** Handles the events of one definition. */
type HandlerOf<Events, Name extends keyof Events> = {
  /** The name of the node, edge or part. */
  readonly on: Name;
  /**
   * Handle only updates in which one of these attributes changed. Other kinds of events are not filtered.
   *
   * @default every update
   */
  readonly whenChanged?: readonly (Events[Name][keyof Events[Name]] extends { readonly changed: readonly (infer Field)[] }
    ? Field
    : never)[];
  /** Handles all kinds of events without a function of their own. */
  readonly event?: Handles<Events[Name][keyof Events[Name]]>;
} & { readonly [Kind in keyof Events[Name]]?: Handles<Events[Name][Kind]> };

/** Handles the events of the whole graph. */
interface HandlerOfAll<Events> {
  readonly on: "*";
  readonly event?: Handles<AnyEvent<Events>>;
  /** Called with changes of items that the model does not know. @default they are ignored */
  readonly unknown?: Handles<UnknownChange>;
}

/**
 * Your handlers, by a name that does not change between deployments, because dead letters are stored under it. Each has a function
 * for each kind of event that it handles, or `event` for all. A handler may be called more than once with the same event, and must
 * then have the same effect.
 */
export interface StreamHandlers<N extends Nodes, E extends Edges, P extends Parts> {
  readonly [handler: string]:
    | HandlerOfAll<EventsInGraph<N, E, P>>
    | { readonly [Name in keyof EventsInGraph<N, E, P>]: HandlerOf<EventsInGraph<N, E, P>, Name> }[keyof EventsInGraph<N, E, P>];
}

/** Handlers of a graph's changes, for those that a file of their own declares. */
export type HandlersOf<G extends AnyGraph> = StreamHandlers<G["~types"]["nodes"], G["~types"]["edges"], G["~types"]["parts"]>;

/** A handler as the processor calls it. */
export interface Handler {
  readonly name: string;
  /** Its function for an event; undefined if it does not handle it. */
  wants(event: ChangeEvent | UnknownEvent): ((event: object) => unknown) | undefined;
}

/** The name of the upkeep of facts among the handlers. */
export const FACTS_HANDLER = "facts";

const KINDS: Readonly<Record<ChangeEvent["of"], readonly EventKind[]>> = {
  node: ["created", "updated", "deleted", "expired"],
  part: ["created", "updated", "deleted", "expired"],
  edge: ["linked", "relinked", "unlinked", "expired"],
};
const UPDATES: readonly string[] = ["updated", "relinked"];

type GivenHandler = Readonly<Record<string, unknown>> & { readonly on?: unknown; readonly whenChanged?: readonly string[] };

const refuseHandler = (name: string, what: string): never => {
  throw new EdgetableError("plan.invalidOption", `The handler "${name}" ${what}`, { details: { handler: name } });
};

const checkHandler = (catalog: Catalog, name: string, given: GivenHandler): void => {
  if (name === FACTS_HANDLER) refuseHandler(name, "has a name that Edgetable uses for facts. Choose another name.");
  namesIn(given, name, "on");
  const { nodes, edges, parts } = catalog;
  const names = [...Object.keys(nodes), ...Object.keys(edges), ...Object.keys(parts)];
  if (typeof given.on !== "string")
    refuseHandler(name, `has no \`on\`: give the name of a node, edge or part, or "*" for all; got ${jsonText(given.on)}.`);
  const on = given.on as string;
  if (on !== "*" && !names.includes(on)) refuseHandler(name, `is on "${on}", which the model does not have.${didYouMean(on, names)}`);
  const of = on in edges ? "edge" : on in parts ? "part" : "node";
  const functions: readonly string[] = on === "*" ? ["event", "unknown"] : [...KINDS[of], "event"];
  const known = ["on", ...(on === "*" ? [] : ["whenChanged"]), ...functions];
  for (const member of Object.keys(given)) {
    oneOf(`member of a handler on "${on}"`, member, known);
    if (functions.includes(member) && given[member] !== undefined && typeof given[member] !== "function")
      refuseHandler(name, `has a \`${member}\` that is not a function: ${jsonText(given[member])}.`);
  }
  if (!functions.some((one) => typeof given[one] === "function"))
    refuseHandler(name, `handles nothing: give it one of ${functions.join(", ")}.`);
  const definition = (nodes[on] ?? edges[on] ?? parts[on])?.definition;
  const attributes = definition?.schema && attributeNames(definition.schema);
  for (const attribute of listOf(given.whenChanged ?? [], "attribute names"))
    if (attributes && attribute !== "version") oneOf(`attribute of ${on}`, attribute, attributes);
};

/**
 * Checks handlers and converts them to the form in which the processor calls them.
 *
 * @throws {plan.invalidOption} if a handler uses a name that the model does not have, or handles nothing
 */
export const readHandlers = (catalog: Catalog, given: object): readonly Handler[] =>
  namesIn(given, "handlers", "welcome").map((name) => {
    const handler = (given as Readonly<Record<string, GivenHandler>>)[name] as GivenHandler;
    checkHandler(catalog, name, handler);
    const call = (member: string): ((event: object) => unknown) | undefined =>
      typeof handler[member] === "function" ? (event) => (handler[member] as (event: object) => unknown)(event) : undefined;
    return {
      name,
      wants(event) {
        if (event.kind === "unknown") return handler.on === "*" ? call("unknown") : undefined;
        if (handler.on === "*") return call("event");
        if (handler.on !== event.name) return undefined;
        if (handler.whenChanged && UPDATES.includes(event.kind) && !event.changed.some((one) => handler.whenChanged?.includes(one)))
          return undefined;
        return call(event.kind) ?? call("event");
      },
    };
  });
