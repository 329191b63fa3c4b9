import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Meter,
  type MeterProvider,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
  type TracerProvider,
} from "@opentelemetry/api";
import { type FailedRequest, isEdgetableError, type Observer, type SentRequest } from "edgetable";
import { type CallObserver, observeMembers } from "./observe-calls.ts";

/** Where spans and metrics go. */
export interface OpenTelemetryOptions {
  /** @default the global tracer provider, as it is when a call is made */
  readonly tracerProvider?: TracerProvider | undefined;
  /** @default the global meter provider, as it is when the connection is opened */
  readonly meterProvider?: MeterProvider | undefined;
  /** False to make a span for each call only, and none for its requests. Metrics have both. @default true */
  readonly requestSpans?: boolean | undefined;
}

const NAME = "@edgetable/opentelemetry";
const VERSION = "0.1.0";

/** What the requests of one call took. */
interface Tally {
  requests: number;
  attempts: number;
  readUnits: number;
  writeUnits: number;
}

const TALLY = createContextKey("edgetable.tally");

// The boundaries that the semantic conventions for database metrics advise for durations in seconds.
const DURATIONS = { explicitBucketBoundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] };

/** What DynamoDB calls an operation in a batch or a transaction. */
const sizeOf = ({ operation, input }: Pick<SentRequest, "operation" | "input">): number | undefined => {
  const { RequestItems, TransactItems } = input as {
    readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly unknown[] } & readonly unknown[]>>;
    readonly TransactItems?: readonly unknown[];
  };
  if (TransactItems) return TransactItems.length;
  if (!RequestItems || !operation.startsWith("Batch")) return undefined;
  return Object.values(RequestItems).reduce((sum, one) => sum + (one.Keys ?? one).length, 0);
};

/** The outcome of a call that did not fail: a write's reason, and the budget at which a walk or a page stopped. */
const outcomeOf = (value: unknown): Attributes => {
  if (typeof value !== "object" || value === null) return {};
  // `report()` gives the answer with what it took.
  const answer = "value" in value && "requests" in value && "cost" in value ? value.value : value;
  if (typeof answer !== "object" || answer === null) return {};
  const { ok, reason, stopped } = answer as { readonly ok?: unknown; readonly reason?: unknown; readonly stopped?: unknown };
  const budget = typeof stopped === "string" ? stopped : (stopped as { readonly by?: unknown } | null | undefined)?.by;
  return {
    ...(typeof ok === "boolean" ? { "edgetable.ok": ok } : {}),
    ...(typeof reason === "string" ? { "edgetable.reason": reason } : {}),
    ...(typeof budget === "string" ? { "edgetable.stopped_by": budget } : {}),
  };
};

const errorType = (error: unknown): string => (isEdgetableError(error) ? error.code : error instanceof Error ? error.name : "_OTHER");

const fail = (span: Span, error: unknown): void => {
  span.setAttribute("error.type", errorType(error));
  // The message of an error names values; the code says what happened without them.
  span.setStatus({ code: SpanStatusCode.ERROR, message: errorType(error) });
};

/** A connection under observation: where its spans and measurements go, and what all of them say. */
interface Telemetry {
  readonly tracer: () => Tracer;
  readonly instruments: ReturnType<typeof createInstruments>;
  readonly requestSpans: boolean;
  /** Attributes of the table. */
  place: Attributes;
}

const createInstruments = (meter: Meter) => ({
  requestDuration: meter.createHistogram("db.client.operation.duration", {
    description: "Duration of a DynamoDB request, retries included",
    unit: "s",
    advice: DURATIONS,
  }),
  callDuration: meter.createHistogram("edgetable.call.duration", { description: "Duration of a call", unit: "s", advice: DURATIONS }),
  units: meter.createCounter("edgetable.capacity_units", { description: "Capacity units that requests consumed", unit: "{unit}" }),
  retries: meter.createCounter("edgetable.retries", { description: "Attempts of a request after its first", unit: "{attempt}" }),
  stops: meter.createCounter("edgetable.budget_stops", { description: "Calls that stopped at a budget", unit: "{call}" }),
});

/** Records a request that has ended. Its span begins when its first attempt did. */
const recordRequest = (telemetry: Telemetry, request: SentRequest | FailedRequest): void => {
  const { place, instruments } = telemetry;
  const { operation, attempts, duration } = request;
  const of = { ...place, "db.operation.name": operation };
  const tally = context.active().getValue(TALLY) as Tally | undefined;
  const { readUnits = 0, writeUnits = 0, itemsRead = 0, error } = request as Partial<SentRequest & FailedRequest>;
  if (tally) {
    tally.requests++;
    tally.attempts += attempts;
    tally.readUnits += readUnits;
    tally.writeUnits += writeUnits;
  }
  if (readUnits > 0) instruments.units.add(readUnits, { ...of, "edgetable.units": "read" });
  if (writeUnits > 0) instruments.units.add(writeUnits, { ...of, "edgetable.units": "write" });
  if (attempts > 1) instruments.retries.add(attempts - 1, of);
  instruments.requestDuration.record(duration / 1000, "error" in request ? { ...of, "error.type": errorType(error) } : of);
  if (!telemetry.requestSpans) return;
  const ended = Date.now();
  const size = sizeOf(request);
  const index = (request.input as { readonly IndexName?: string }).IndexName;
  const span = telemetry.tracer().startSpan(`${operation} ${String(place["db.collection.name"])}`, {
    kind: SpanKind.CLIENT,
    startTime: ended - duration,
    attributes: {
      ...of,
      ...(index === undefined ? {} : { "aws.dynamodb.index_name": index }),
      ...(size === undefined ? {} : { "db.operation.batch.size": size }),
      "edgetable.attempts": attempts,
      ...("error" in request
        ? {}
        : { "edgetable.items_read": itemsRead, "edgetable.read_units": readUnits, "edgetable.write_units": writeUnits }),
    },
  });
  if ("error" in request) fail(span, error);
  span.end(ended);
};

/** How a call ended: with a value, or with an error. */
interface Ended {
  readonly value?: unknown;
  readonly error?: unknown;
}

/** Begins the span of a call. Gives the context in which the call runs. */
const beginCall = (telemetry: Telemetry, name: string): { readonly inside: Context; readonly end: (ended: Ended) => void } => {
  const { place, instruments } = telemetry;
  const tally: Tally = { requests: 0, attempts: 0, readUnits: 0, writeUnits: 0 };
  const of = { ...place, "edgetable.call": name };
  const span = telemetry.tracer().startSpan(name, { kind: SpanKind.INTERNAL, attributes: of });
  const started = performance.now();
  return {
    inside: trace.setSpan(context.active(), span).setValue(TALLY, tally),
    end: (ended) => {
      const outcome = outcomeOf(ended.value);
      span.setAttributes({
        ...outcome,
        "edgetable.requests": tally.requests,
        "edgetable.retries": tally.attempts - tally.requests,
        "edgetable.read_units": tally.readUnits,
        "edgetable.write_units": tally.writeUnits,
      });
      const stoppedBy = outcome["edgetable.stopped_by"];
      if (stoppedBy !== undefined) instruments.stops.add(1, { ...of, "edgetable.stopped_by": stoppedBy });
      const failed = "error" in ended;
      if (failed) fail(span, ended.error);
      const seconds = (performance.now() - started) / 1000;
      instruments.callDuration.record(seconds, failed ? { ...of, "error.type": errorType(ended.error) } : of);
      span.end();
    },
  };
};

const callObserver = (telemetry: Telemetry): CallObserver => ({
  call: async (name, make) => {
    const { inside, end } = beginCall(telemetry, name);
    try {
      const value = await context.with(inside, make);
      end({ value });
      return value;
    } catch (error) {
      end({ error });
      throw error;
    }
  },
  iteration: (name) => {
    const { inside, end } = beginCall(telemetry, name);
    let ended = false;
    return {
      step: async (next) => context.with(inside, next),
      end: (how) => {
        if (!ended) end(how);
        ended = true;
      },
    };
  },
});

/**
 * Traces and measures a connection: a span for each call, one below it for each DynamoDB request, and metrics of both. Spans
 * and metrics contain names of the model and of the table, units and counts; they never contain keys or values.
 *
 * Give each connection an observer of its own: `graph.connect({ observer: openTelemetry() })`.
 */
export const openTelemetry = (options: OpenTelemetryOptions = {}): Observer => {
  const telemetry: Telemetry = {
    tracer: () => (options.tracerProvider ?? trace).getTracer(NAME, VERSION),
    instruments: createInstruments((options.meterProvider ?? metrics).getMeter(NAME, VERSION)),
    requestSpans: options.requestSpans ?? true,
    place: {},
  };
  const record = (request: SentRequest | FailedRequest): void => recordRequest(telemetry, request);
  return {
    connection: (db, { table, endpoint, region }) => {
      telemetry.place = {
        "db.system.name": "aws.dynamodb",
        "db.collection.name": table,
        ...(region === undefined ? {} : { "cloud.region": region }),
        ...(endpoint !== undefined && URL.canParse(endpoint) ? { "server.address": new URL(endpoint).hostname } : {}),
      };
      return observeMembers(db, [], callObserver(telemetry));
    },
    request: record,
    failure: record,
  };
};
