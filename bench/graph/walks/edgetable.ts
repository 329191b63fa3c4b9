import { links, social } from "../store/model.ts";
import { placeOf } from "../store/place.ts";
import type { Neighbourhood, Walker, WalkPlace } from "./walk.ts";

// These walks know their size; the default would end the largest of them at 1,000 requests.
const budget = { requests: 1_000_000, breadth: 1_000_000 };

interface Id {
  readonly id: string;
}

const walksFrom = (table: string, endpoint: string) => {
  if (table === "Social") {
    const db = social.connect(placeOf(endpoint));
    const from = (id: Id, { direction, depth }: Neighbourhood) => {
      const walk = db.user(id).walk();
      const options = { depth, emit: "all" } as const;
      return direction === "out" ? walk.repeat({ out: "follows" }, options) : walk.repeat({ both: "follows" }, options);
    };
    return { db, from };
  }
  const db = links.connect(placeOf(endpoint));
  const from = (id: Id, { direction, depth }: Neighbourhood) => {
    const walk = db.object(id).walk();
    const options = { depth, emit: "all" } as const;
    return direction === "out" ? walk.repeat({ out: "link" }, options) : walk.repeat({ both: "link" }, options);
  };
  return { db, from };
};

/** The library, as its documentation asks for the ids of a neighbourhood. */
export const connect = ({ endpoint, table }: WalkPlace): Walker => {
  const { db, from } = walksFrom(table, endpoint);
  const walk: Walker["walk"] = async (neighbourhood) => {
    const call = from({ id: neighbourhood.start }, neighbourhood).dedupe().except("start").ids({ budget });
    const { value, cost } = await call.report({ deadline: 600_000 });
    if (!value.complete) throw new Error(`the walk stopped: ${JSON.stringify(value.stopped)}`);
    return { ids: value.items.map(({ id }) => id), requests: cost.requests };
  };
  return { walk, close: () => db.close() };
};
