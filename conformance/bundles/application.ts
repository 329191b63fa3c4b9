import { defineGraph, edge, node, part, type StandardSchema } from "edgetable";

// A small application that makes first calls of everything that is loaded late, several at a time.
const [endpoint = "", table = ""] = process.argv.slice(2);

const schema = <Row>(): StandardSchema<Row> => ({
  "~standard": { version: 1, vendor: "bundles", validate: (value) => ({ value: value as Row }) },
});

const graph = defineGraph({
  table,
  nodes: {
    author: node({ key: "A#{author}", schema: schema<{ author: string; name: string }>() }),
    book: node({ key: "B#{book}", schema: schema<{ book: string; title: string }>() }),
  },
  parts: { chapter: part({ of: "book", key: "chapter#{number:6}", schema: schema<{ number: number; text: string }>() }) },
  edges: { wrote: edge({ from: "author", to: "book", onDelete: { from: "cascade" } }) },
});

const sent: string[] = [];
const db = graph.connect({
  endpoint,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  onRequest: ({ operation }) => void sent.push(operation),
});
const requestsOf = async <Result>(call: () => Promise<Result>): Promise<readonly [Result, readonly string[]]> => {
  sent.length = 0;
  const result = await call();
  return [result, sent.toSorted()];
};

const { created } = await db.table.create();
const ids = Array.from({ length: 5 }, (_, at) => `b${at}`);
const explanation = await db.author.put({ author: "ann", name: "Ann" }).explain();
const explained = explanation.requests.map(({ operation }) => operation);
const loaded = await db.load([
  { node: "author", row: { author: "ann", name: "Ann" } },
  ...ids.map((book) => ({ node: "book" as const, row: { book, title: book } })),
  ...ids.map((book) => ({ edge: "wrote" as const, from: { author: "ann" }, to: { book } })),
]);
const batched = await db.batch(ids.map((book) => db.chapter.put({ book }, { number: 1, text: book })));
const page = async (): Promise<number> => (await db.author({ author: "ann" }).out("wrote").page({ limit: 2 })).items.length;
const pages = await requestsOf(() => Promise.all([page(), page(), page()]));
const jobs = await requestsOf(() => Promise.all([db.jobs.list(), db.jobs.list()]));
const deleted = await db.author.delete({ author: "ann" });
const left = await Promise.all([db.author({ author: "ann" }).get(), db.wrote.get({ author: "ann" }, { book: "b0" })]);
const differences = await db.table.diff();
await db.table.delete();
await db.close();

process.stdout.write(
  JSON.stringify({
    created,
    explained,
    loaded: loaded.items,
    batched: batched.items,
    pages,
    jobs,
    deleted: deleted.ok,
    left: left.map((row) => row ?? null),
    differences,
  }),
);
