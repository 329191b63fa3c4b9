import { readdirSync, readlinkSync, statSync } from "node:fs";
import { openKeyTable } from "../../packages/edgetable/src/executor/load/collisions.ts";

/** What a worker is told, as JSON in its first argument. */
export interface Orders {
  readonly rows: number;
  readonly pagesInMemory: number;
}

/** What it says of its work. */
export interface Answers {
  /** Rows of which the table told something else than a Map. */
  readonly wrong: number;
  /** Bytes of its file. */
  readonly bytes: number;
}

const fileBytes = (): number => {
  for (const descriptor of readdirSync("/proc/self/fd")) {
    const path = `/proc/self/fd/${descriptor}`;
    try {
      if (readlinkSync(path).includes("/edgetable-")) return statSync(path).size;
    } catch {
      // The one that the folder was read by.
    }
  }
  return 0;
};

const { rows, pagesInMemory } = JSON.parse(process.argv[2] ?? "{}") as Orders;
const table = openKeyTable(pagesInMemory);
const plain = new Map<string, { readonly row: number; readonly content: number }>();
let wrong = 0;
for (let row = 0; row < rows; row++) {
  // Half of the rows make a key that was made before.
  const key = `KEY#${row % 2 === 0 ? row : Math.floor(row / 3)}`;
  const [said, right] = [table.note(key, row, row % 5), plain.get(key)];
  plain.set(key, { row, content: row % 5 });
  if (said?.row !== right?.row || said?.differs !== (right && right.content !== row % 5)) wrong++;
  if (row === 5000) process.stdout.write("under way\n");
}
const answers: Answers = { wrong, bytes: fileBytes() };
process.stdout.write(JSON.stringify(answers));
table.close();
