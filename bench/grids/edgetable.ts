import { placeOf } from "../graph/store/place.ts";
import type { Reader } from "./ask.ts";
import { project, tracker } from "./model.ts";

const columnOf = (name: string): "num" => (/^f\d/.test(name) ? `field:${name}` : name) as "num";

/** The library's grid. */
export const edgetable = (endpoint: string): Reader => {
  const db = tracker.connect(placeOf(endpoint));
  return {
    close: () => db.close(),
    async page({ sort, filters, shown, limit, cursor }) {
      let grid = db.issue
        .grid(project)
        .columns("name", "state", ...shown.map(columnOf))
        .sort(columnOf(sort))
        .empties("without");
      for (const [name, wanted] of Object.entries(filters)) grid = grid.where({ [columnOf(name)]: { in: wanted } } as never);
      const { value, requests, cost } = await grid.page({ limit, cursor, budget: { requests: 10_000 } }).report();
      const rows = value.items.map(({ row }) => row.issueId);
      return { rows, examined: 0, requests: requests.length, readUnits: cost.readUnits, next: value.next };
    },
  };
};
