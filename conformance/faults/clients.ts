import { createHash } from "node:crypto";
import { isEdgetableError, type ConnectOptions, type Layout, type Transport } from "edgetable";
import {
  createFaultTransport,
  createWriteHistory,
  seededRandom,
  virtualClock,
  type FaultTransport,
  type VirtualClock,
} from "@edgetable/testing";
import { stormy, type Db } from "./model.ts";

/** How far back weak reads may look, in virtual milliseconds. */
export const bounds = { index: 400, table: 150 };

/** A client's transport made worse, to prove that the checker sees it. */
export type Sabotage = (transport: Transport) => Transport;

/** One client, and how many of its writes that no token makes exact lost their answer so far. */
export interface Client<Connection = Db> {
  readonly db: Connection;
  readonly lostAnswers: () => number;
}

/** Several clients of one table, each under weather of its own, and one in the sun. */
export interface Clients<Connection = Db> {
  readonly table: string;
  readonly clock: VirtualClock;
  /** Tells the truth. */
  readonly calm: Connection;
  readonly transport: Transport;
  readonly stormy: readonly Client<Connection>[];
  settle(): void;
}

export interface Place {
  readonly transport: Transport;
  readonly table: string;
  readonly layout: Layout | undefined;
  readonly sabotage?: Sabotage | undefined;
}

// A replayed seed draws the same tokens again, and the engine remembers them beyond their table.
const withOwnToken = <Input extends object>(table: string, input: Input): Input => {
  if (!("ClientRequestToken" in input)) return input;
  const token = createHash("sha256")
    .update(`${table} ${String(input.ClientRequestToken)}`)
    .digest("hex")
    .slice(0, 36);
  return { ...input, ClientRequestToken: token };
};

/** One request at a time, in the order of arrival, so that a seed replays a history exactly. */
const inTurn = ({ transport, table }: Place): Transport => {
  let last: Promise<unknown> = Promise.resolve();
  return {
    send: (operation, input, options) => {
      const sent = last.then(() => transport.send(operation, withOwnToken(table, input), options));
      last = sent.catch(() => undefined);
      return sent;
    },
    close: () => transport.close(),
  };
};

const withoutToken: ReadonlySet<string> = new Set(["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"]);

const countLostAnswers = (transport: Transport): { readonly transport: Transport; readonly lostAnswers: () => number } => {
  let lost = 0;
  const send: Transport["send"] = async (operation, input, options) => {
    try {
      return await transport.send(operation, input, options);
    } catch (error) {
      if (withoutToken.has(operation) && isEdgetableError(error) && error.details["ambiguous"] === true) lost++;
      throw error;
    }
  };
  return { transport: { send, close: () => transport.close() }, lostAnswers: () => lost };
};

/** Rates from calm to wild, by the weather's seed. */
const rateOf = (random: () => number): number => [0.05, 0.15, 0.3, 0.5][Math.floor(random() * 4)] ?? 0.1;

type Rates = NonNullable<Parameters<typeof createFaultTransport>[1]>["rates"];

/** Which weather, how many clients, and how each connects. */
interface Opening<Connection> {
  readonly weather: number;
  readonly count: number;
  readonly connect: (options: ConnectOptions) => Connection;
  /** What a rate means for each kind of fault. @default shared out among those that apply */
  readonly rates?: (rate: number) => Rates;
}

/** Opens `count` clients of any graph under the weather of a seed. */
export const openWeather = <Connection>(place: Place, { weather, count, connect, rates }: Opening<Connection>): Clients<Connection> => {
  const random = seededRandom(weather);
  const clock = virtualClock({ start: Date.UTC(2026, 0, 1), seed: weather });
  const engine = inTurn(place);
  const history = createWriteHistory();
  const open = (at: number): { readonly faults: FaultTransport; readonly client: Client<Connection> } => {
    const rate = rateOf(random);
    const faults = createFaultTransport(engine, {
      seed: weather * 8 + at,
      rates: rates?.(rate) ?? rate,
      lag: { milliseconds: bounds.index, rate: 0.7, torn: random() < 0.5 },
      staleReads: { milliseconds: bounds.table, rate: 0.5 },
      latency: [0, 40],
      maxConsecutive: 4,
      effects: clock,
      history,
    });
    const { transport, lostAnswers } = countLostAnswers(place.sabotage ? place.sabotage(faults) : faults);
    const own = seededRandom(weather * 16 + at);
    const effects = { now: () => clock.now(), sleep: clock.sleep, random: own };
    const db = connect({
      transport,
      advanced: { effects },
      cursorSecret: "storm".padEnd(43, "-"),
      requestTimeout: 300,
      deadline: 6_000,
      retry: { attempts: 3 + (at % 3) },
    });
    return { faults, client: { db, lostAnswers } };
  };
  const clients = Array.from({ length: count }, (_, at) => open(at));
  const settle = (): void => {
    for (const { faults } of clients) faults.settle();
  };
  const calm = connect({
    transport: engine,
    cursorSecret: "storm".padEnd(43, "-"),
    advanced: { effects: { now: () => clock.now(), sleep: clock.sleep, random: seededRandom(weather * 16 + 15) } },
  });
  return { table: place.table, clock, calm, transport: engine, stormy: clients.map(({ client }) => client), settle };
};

/** Opens `count` clients of the stormy graph. */
export const openClients = (place: Place, weather: number, count: number): Clients => {
  const graph = stormy(place.table, place.layout);
  return openWeather(place, { weather, count, connect: (options) => graph.connect(options) });
};
