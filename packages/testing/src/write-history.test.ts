import { expect, test } from "vitest";
import type { Item } from "edgetable";
import { createWriteHistory, type Images, type Unseen } from "./write-history.ts";

const image = (v: string): Item => ({ v: { S: v } });
const all: Unseen = () => true;
const images = (key: string, v: string | undefined): Images => new Map([[key, v === undefined ? undefined : image(v)]]);

test("writers of one key wait for each other in their order, writers of others do not", async () => {
  const { lock } = createWriteHistory();
  const seen: string[] = [];
  const first = await lock(["a", "b"]);
  const second = lock(["b", "c"]).then((unlock) => (seen.push("second"), unlock));
  const third = lock(["c"]).then((unlock) => (seen.push("third"), unlock));
  (await lock(["d"]))();
  expect(seen).toEqual([]);
  first();
  (await second)();
  (await third)();
  expect(seen).toEqual(["second", "third"]);
});

test("a view shows the oldest image that is unseen, of writes under way, too, and of those begun later", () => {
  const history = createWriteHistory();
  history.retain({ writes: 10, milliseconds: 0 });
  history.begin("table", images("a", undefined))("done", 1);
  history.begin("table", images("a", "1"))("done", 2);
  history.begin("table", images("b", "1"));
  const view = history.view("table", all);
  expect([...view.images]).toEqual([
    ["a", undefined],
    ["b", image("1")],
  ]);
  history.begin("table", images("c", "1"));
  history.begin("table", images("a", "2"));
  expect([...view.images].at(-1)).toEqual(["c", image("1")]);
  view.close();
  history.begin("table", images("d", "1"));
  expect(view.images.has("d")).toBe(false);
});

test("a refused write leaves nothing behind", () => {
  const history = createWriteHistory();
  history.retain({ writes: 10, milliseconds: 0 });
  history.begin("table", images("a", "1"))("refused", 1);
  expect(history.view("table", all).images.size).toBe(0);
});

test("what no bound can reach is forgotten, by count and by time", () => {
  const history = createWriteHistory();
  history.retain({ writes: 2, milliseconds: 0 });
  for (let at = 1; at <= 5; at++) history.begin("table", images(`k${String(at)}`, "1"))("done", at);
  expect([...history.view("table", all).images.keys()]).toEqual(["k4", "k5"]);
  history.retain({ writes: 0, milliseconds: 100 });
  for (let at = 6; at <= 9; at++) history.begin("table", images(`k${String(at)}`, "1"))("done", at);
  history.begin("table", images("late", "1"))("done", 108);
  expect([...history.view("table", all).images.keys()]).toEqual(["k8", "k9", "late"]);
});

test("settling and dropping a table end its past", () => {
  const history = createWriteHistory();
  history.retain({ writes: 10, milliseconds: 0 });
  history.begin("one", images("a", "1"))("done", 1);
  history.begin("two", images("a", "1"))("done", 1);
  history.forget("one");
  expect(history.view("one", all).images.size).toBe(0);
  expect(history.view("two", all).images.size).toBe(1);
  history.settle();
  expect(history.view("two", all).images.size).toBe(0);
});
