import { afterEach, expect, test, vi } from "vitest";
import { PathSearch } from "./graph-path.ts";
import type { Way } from "./graph-store.ts";

const ways: readonly Way[] = [
  { edge: "knows", direction: "out", to: ["person"], key: [] },
  { edge: "knows", direction: "in", to: ["person"], key: [] },
];

const person = (id: string) => ({ type: "person", id: { id } });

/** Answers with the neighbours in a chain of three people; the first requests fail. */
const answers = (failing: number): void => {
  let asked = 0;
  vi.stubGlobal("fetch", async (address: string) => {
    if (asked++ < failing) return new Response(JSON.stringify({ error: { code: "execute.throttled", message: "busy" } }), { status: 502 });
    const query = new URL(address, "http://studio").searchParams;
    const { id } = JSON.parse(query.get("id") ?? "{}") as { readonly id: string };
    const other = "abc".at("abc".indexOf(id) + (query.get("direction") === "out" ? 1 : -1));
    const entries =
      other === undefined || (other === "c" && id === "a") ? [] : [{ node: { ...person(other), partition: "" }, attributes: {} }];
    return new Response(JSON.stringify({ entries, cost: { requests: 1, readUnits: 0.5 } }));
  });
};

afterEach(() => vi.unstubAllGlobals());

test("a path is found though requests of the search failed, once it goes on", async () => {
  answers(3);
  const search = new PathSearch(person("a"), person("c"), () => ways);
  const { signal } = new AbortController();
  for (let tries = 0; tries < 3; tries++) {
    await expect(search.run(60, signal)).rejects.toThrow("busy");
    expect(search.isExhausted).toBe(false);
  }
  await search.run(60, signal);
  expect(search.path?.nodes).toEqual(["a", "b", "c"].map(person));
});
