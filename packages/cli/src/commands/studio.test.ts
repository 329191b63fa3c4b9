import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import type {
  HealthAnswer,
  ItemsAnswer,
  LiveAnswer,
  MigrationAnswer,
  ModelAnswer,
  NeighboursAnswer,
  PatternAnswer,
  RowsAnswer,
  ScratchAnswer,
} from "@edgetable/studio";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startStudioServer } from "../studio/studio-server.ts";
import { createFolder, educationData, educationModel, run, type Folder, type Ran } from "../test-support/lab.ts";
import { findApp } from "./studio.ts";

const writingModel = educationModel.replace(
  "export const patterns = definePatterns(education, {",
  `export const patterns = definePatterns(education, {
  writes: { question: "A pattern whose code writes", example: {}, ask: (db) => (void db.student.create({ studentId: "S9", name: "Eve" }).run().catch((error) => { process.emit("studioWrite", error.message); }), db.student.get({ studentId: "S9" })) },`,
);

let folder: Folder;
interface Running {
  /** The first line of the command's JSON. */
  readonly ready: { readonly endpoint: string; readonly link: string };
  readonly stop: () => Promise<Ran>;
}
let engine: Running;
let studio: Running;

const start = async (...argv: readonly string[]): Promise<Running> => {
  const controller = new AbortController();
  let ready: (text: string) => void = () => undefined;
  const announced = new Promise<string>((resolve) => (ready = resolve));
  const ended = run([...argv, "--json"], { cwd: folder.path, signal: controller.signal, onOut: (text) => ready(text) });
  const text = await Promise.race([
    announced,
    ended.then(({ err }): never => {
      throw new Error(err);
    }),
  ]);
  return {
    ready: JSON.parse(text) as Running["ready"],
    stop: () => {
      controller.abort();
      return ended;
    },
  };
};

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request as it is written: `fetch` would not let a test choose Host, Origin or Cookie. */
const send = (url: string, { method = "GET", headers = {}, body }: Sent = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (more: string) => (text += more));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });

const originOf = ({ ready }: Running): string => new URL(ready.link).origin;
const signIn = async (one: Running): Promise<string> => {
  const { headers } = await send(one.ready.link);
  return (headers["set-cookie"]?.[0] ?? "").split(";")[0] ?? "";
};
let cookie: string;
const get = async <T>(path: string): Promise<T> => {
  const { status, text } = await send(`${originOf(studio)}${path}`, { headers: { cookie } });
  expect({ status, text: status === 200 ? "" : text }).toEqual({ status: 200, text: "" });
  return JSON.parse(text) as T;
};
const post = (path: string, body: unknown): Promise<Got> => {
  const origin = originOf(studio);
  return send(`${origin}${path}`, {
    method: "POST",
    headers: { cookie, origin, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
};

beforeAll(async () => {
  folder = createFolder({ "edgetable.ts": writingModel, "data.json": educationData });
  engine = await start("dev", "--memory", "--data", "data.json");
  studio = await start("studio", "--endpoint", engine.ready.endpoint);
  cookie = await signIn(studio);
});
afterAll(async () => {
  await studio.stop();
  await engine.stop();
  folder.remove();
});

test("the link signs in: the token leaves the address, and the cookie is for this page alone", async () => {
  const { status, headers, text } = await send(studio.ready.link.replace("/?", "/table?types=student&"));
  expect({ status, location: headers.location, text }).toEqual({ status: 303, location: "/table?types=student", text: "" });
  expect(headers["set-cookie"]?.[0]).toMatch(/^edgetable-studio-\d+=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(headers["set-cookie"]?.[0]).not.toContain(new URL(studio.ready.link).searchParams.get("token"));
});

test("the link leads to a view of this server alone", async () => {
  const { searchParams, origin } = new URL(studio.ready.link);
  for (const path of ["//evil.example/", "/\\\\evil.example/", "/https://evil.example/", "/.//evil.example"])
    expect((await send(`${origin}${path}?token=${searchParams.get("token")}`)).headers.location).toBe("/");
});

test("every answer has a policy without inline scripts or other hosts", async () => {
  const page = await send(`${originOf(studio)}/table?partition=x`, { headers: { cookie } });
  expect(page.status).toBe(200);
  const policy = page.headers["content-security-policy"] as string;
  expect(policy).toContain("default-src 'none'; script-src 'self'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(page.headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "x-frame-options": "DENY" });
  expect(page.headers["access-control-allow-origin"]).toBeUndefined();
  // Every script is a file of this server.
  for (const [tag] of page.text.matchAll(/<script[^>]*>/g)) expect(tag).toMatch(/ src="\/assets\//);
  const refused = await send(`${originOf(studio)}/`);
  expect(refused.headers["content-security-policy"]).toBe(policy);
});

test.each<[string, string, Sent, number, string]>([
  ["no cookie", "/api/model", {}, 401, "Open the link"],
  ["no cookie on the page", "/table", {}, 401, "Open the link"],
  ["no cookie on a file", "/icon.svg", {}, 401, "Open the link"],
  ["another cookie", "/api/model", { headers: { cookie: "edgetable-studio-1=x" } }, 401, "Open the link"],
  ["a wrong token", "/?token=wrong", {}, 401, "not valid"],
  ["an empty token", "/?token=", {}, 401, "not valid"],
  ["another host name", "/api/model", { headers: { host: "evil.example" } }, 421, "its own address"],
  ["a name that resolves to this machine", "/api/model", { headers: { host: "rebound.example:5600" } }, 421, "its own address"],
  ["another page", "/api/model", { headers: { origin: "http://evil.example" } }, 403, "Another web page"],
  ["another port", "/api/model", { headers: { origin: "http://127.0.0.1:1" } }, 403, "Another web page"],
  ["an opaque origin", "/api/model", { headers: { origin: "null" } }, 403, "Another web page"],
  ["an image of another page", "/api/model", { headers: { "sec-fetch-site": "cross-site" } }, 403, "Another web page"],
  ["a form of another page", "/api/patterns/run", { method: "POST", headers: { origin: "http://evil.example" } }, 403, "Another web page"],
  ["a POST without an Origin", "/api/patterns/run", { method: "POST" }, 403, "must name its Origin"],
  ["a method", "/api/model", { method: "DELETE" }, 405, "Only GET"],
])("refuses %s", async (_, path, sent, status, message) => {
  // A request that is refused for its caller is refused with the right cookie too.
  const withCookie = status === 401 ? {} : { cookie };
  const got = await send(`${originOf(studio)}${path}`, { ...sent, headers: { ...withCookie, ...sent.headers } });
  expect(got).toMatchObject({ status, text: expect.stringContaining(message) });
  expect(got.headers["set-cookie"]).toBeUndefined();
});

test("garbage is refused, and the server goes on", async () => {
  const origin = originOf(studio);
  const as = { cookie, origin, "content-type": "application/json" };
  for (const [path, sent, status] of [
    ["/api/patterns/run", { method: "POST", headers: as, body: "{" }, 400],
    ["/api/patterns/run", { method: "POST", headers: as, body: "null" }, 400],
    ["/api/patterns/run", { method: "POST", headers: as, body: '{"name":"__proto__"}' }, 400],
    ["/api/patterns/run", { method: "POST", headers: { ...as, "content-type": "text/plain" }, body: "{}" }, 415],
    ["/api/patterns/run", { method: "POST", headers: as, body: `"${"x".repeat(70_000)}"` }, 413],
    ["/api/items?limit=0", { headers: { cookie } }, 400],
    ["/api/items?cursor=x", { headers: { cookie } }, 400],
    ["/api/items?cursor=bnVsbA", { headers: { cookie } }, 400],
    ["/api/items?index=none", { headers: { cookie } }, 400],
    ["/api/neighbours?type=student&id=7&edge=enrolledIn&direction=out", { headers: { cookie } }, 400],
    ["/api/neighbours?type=student&id=%7B%7D&edge=constructor&direction=out", { headers: { cookie } }, 400],
    ["/api/node?type=toString&id=%7B%7D", { headers: { cookie } }, 400],
    ["/api/item?key=7", { headers: { cookie } }, 400],
    ["/api/item?key=%5B%22x%22%5D", { headers: { cookie } }, 400],
    ["/api/nothing", { headers: { cookie } }, 404],
    ["/../package.json", { headers: { cookie } }, 404],
    ["/assets/%2e%2e/%2e%2e/package.json", { headers: { cookie } }, 404],
    ["//evil.example/x", { headers: { cookie } }, 404],
  ] as const) {
    const { status: got, text } = await send(`${origin}${path}`, sent);
    expect({ path, got }).toEqual({ path, got: status });
    if (path.startsWith("/api/")) expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String) } });
  }
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  await new Promise<void>((resolve) => {
    socket.on("close", () => resolve()).on("error", () => undefined);
    socket.on("data", () => socket.destroy());
    socket.write("\u0000\u0001 nonsense\r\n\r\n");
  });
  expect((await get<ModelAnswer>("/api/model")).table).toBe("Education");
});

test("the model, without any credential", async () => {
  const model = await get<ModelAnswer>("/api/model");
  expect(model).toMatchObject({ table: "Education", file: "edgetable.ts", place: new URL(engine.ready.endpoint).host, local: true });
  expect(model.types.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "node student",
    "node course",
    "node home",
    "node term",
    "edge enrolledIn",
    "edge livesIn",
    "part note",
  ]);
  expect(model.types[0]).toMatchObject({ keys: { pk: "STUDENT#{studentId}" }, attributes: ["studentId", "name", "year", "active"] });
  expect(model.indexes.map(({ name }) => name)).toEqual([undefined, "reverse", "ordered"]);
  expect(JSON.stringify(model)).not.toMatch(/secret|accessKey|token/i);
});

test("items: partition after partition in pages, filtered by type, of an index, and of one partition", async () => {
  const seen: ItemsAnswer["items"][number][] = [];
  let cursor = "";
  do {
    const page = await get<ItemsAnswer>(`/api/items?limit=4${cursor}`);
    seen.push(...page.items);
    cursor = page.next === undefined ? "" : `&cursor=${page.next}`;
  } while (cursor !== "");
  const partitions = seen.map(({ item }) => (item["pk"] as { readonly S: string }).S);
  // Contiguous: a partition that was left does not come again.
  expect(partitions.filter((one, at) => one !== partitions[at - 1])).toHaveLength(new Set(partitions).size);
  const whole = await get<ItemsAnswer>("/api/items");
  expect(whole).toMatchObject({ scanned: seen.length, cost: { requests: 1 } });
  expect(whole.items).toEqual(seen);

  const notes = await get<ItemsAnswer>("/api/items?types=note,course");
  expect(notes.items.map(({ name }) => name).sort()).toEqual(["course", "course", "note"]);
  const one = await get<ItemsAnswer>("/api/items?partition=STUDENT%23S1&types=enrolledIn");
  expect(one.items.map(({ ends }) => ends.map(({ partition }) => partition))).toEqual([["COURSE#C1"], ["COURSE#C2"]]);
  const key = (...texts: readonly string[]): string => encodeURIComponent(JSON.stringify(texts));
  expect(await get(`/api/item?key=${key("STUDENT#S1", "NOTE#001")}`)).toMatchObject({ item: { kind: "part", name: "note" } });
  expect(await get(`/api/item?key=${key("STUDENT#S1", "NOTE#002")}`)).toEqual({});
  const reverse = await get<ItemsAnswer>("/api/items?index=reverse&partition=COURSE%23C1&types=enrolledIn");
  expect(reverse.items.map(({ keys }) => keys["gsi1sk"]?.at(-1)?.text)).toEqual(["S1", "S2", "S3"]);
});

test("a node, and a page of its neighbours in each direction", async () => {
  const id = encodeURIComponent(JSON.stringify({ studentId: "S1" }));
  expect(await get("/api/node?type=student&id=" + id)).toMatchObject({ row: { name: "Ann" }, partition: "STUDENT#S1" });
  const out = await get<NeighboursAnswer>(`/api/neighbours?type=student&id=${id}&edge=enrolledIn&direction=out&limit=1`);
  expect(out.entries).toMatchObject([{ node: { type: "course", partition: "COURSE#C2" }, attributes: { at: "2023-09-01" } }]);
  const more = await get<NeighboursAnswer>(
    `/api/neighbours?type=student&id=${id}&edge=enrolledIn&direction=out&limit=5&cursor=${encodeURIComponent(out.next ?? "")}`,
  );
  expect(more.entries.map(({ node }) => node.partition)).toEqual(["COURSE#C1"]);
  const course = encodeURIComponent(JSON.stringify({ courseId: "C1" }));
  const back = await get<NeighboursAnswer>(`/api/neighbours?type=course&id=${course}&edge=enrolledIn&direction=in`);
  expect(back.entries.map(({ node }) => node.row?.["name"])).toEqual(["Ann", "Bob", "Cy"]);
});

test("a pattern: its plan without a request, and its answer with what each attempt took", async () => {
  const planned = await post("/api/patterns/plan", { name: "studentsOfCourse", parameters: { courseId: "C1" } });
  expect(JSON.parse(planned.text)).toEqual({ plan: expect.objectContaining({ kind: "read" }) });
  const { status, text } = await post("/api/patterns/run", { name: "studentsOfCourse", parameters: { courseId: "C1" } });
  expect(status).toBe(200);
  const { plan, run: ran } = JSON.parse(text) as PatternAnswer;
  expect(plan.requests.map(({ operation }) => operation)).toEqual(["Query", "BatchGetItem"]);
  expect(ran?.answer).toMatchObject([{ node: { name: "Ann" } }, { node: { name: "Bob" } }, { node: { name: "Cy" } }]);
  expect(ran?.attempts).toMatchObject([
    { operation: "Query", index: "reverse", items: 3 },
    { operation: "BatchGetItem", items: 3 },
  ]);
  expect(ran?.cost).toEqual({ requests: 2, readUnits: ran?.attempts.reduce((sum, { readUnits }) => sum + readUnits, 0) });
});

const education = (cursor?: string) => ({
  call: 'db.student({ studentId: "S1" }).out("enrolledIn").in("enrolledIn").ids({ budget: { requests: 2 } })',
  ...(cursor === undefined ? {} : { cursor }),
});

test("a call that was typed: planned, run, continued where its budget ended it, and refused with its place", async () => {
  const answerOf = async (route: string, body: object): Promise<ScratchAnswer> =>
    JSON.parse((await post(`/api/scratch/${route}`, body)).text) as ScratchAnswer;
  const planned = await answerOf("plan", education());
  expect(planned).toMatchObject({ writes: false, plan: { kind: "walk" } });
  expect(planned.run).toBeUndefined();
  interface Part {
    readonly items: readonly { readonly studentId: string }[];
    readonly complete: boolean;
    readonly next?: string;
  }
  const found: string[] = [];
  let cursor: string | undefined;
  let parts = 0;
  do {
    const { answer, cost } = (await answerOf("run", education(cursor))).run as {
      readonly answer: Part;
      readonly cost: { readonly requests: number };
    };
    found.push(...answer.items.map(({ studentId }) => studentId));
    expect(cost.requests).toBeLessThanOrEqual(2);
    cursor = answer.next;
    parts++;
  } while (cursor !== undefined && parts < 20);
  expect(parts).toBeGreaterThan(1);
  expect([...new Set(found)].sort()).toEqual(["S1", "S2", "S3"]);
  const refused = 'db.student({ studentId: "S1" }).out("enroledIn").nodes()';
  expect(await answerOf("plan", { call: refused })).toMatchObject({
    problem: { start: 32, end: 35, message: expect.stringContaining("enrolledIn") },
  });
  // What only a plan finds is told as well, and a cursor of another call is refused.
  expect(await answerOf("plan", { call: 'db.find("student").where({ year: 1 }).rows()' })).toMatchObject({
    problem: { message: expect.any(String) },
  });
  expect((await post("/api/scratch/run", { call: 'db.student.get({ studentId: "S1" })', cursor: "x" })).status).toBe(400);
  expect((await post("/api/scratch/run", education("x"))).status).toBe(400);
  for (const body of [7, {}, { call: 7 }]) expect((await post("/api/scratch/plan", body)).status).toBe(400);
});

test("a write that was typed is planned, and sent only with --write", async () => {
  const call = 'db.student.update({ studentId: "S2" }, { name: "Bea" })';
  expect(JSON.parse((await post("/api/scratch/plan", { call })).text)).toMatchObject({ writes: true, plan: { kind: "write" } });
  expect(JSON.parse((await post("/api/scratch/run", { call })).text)).toMatchObject({
    problem: { message: expect.stringContaining("--write") },
  });
  expect(await get("/api/node?type=student&id=" + encodeURIComponent('{"studentId":"S2"}'))).toMatchObject({ row: { name: "Bob" } });
});

test("a write that the model's own code makes is not sent", async () => {
  const refused = new Promise<string>((resolve) => (process as NodeJS.EventEmitter).once("studioWrite", resolve));
  const { text } = await post("/api/patterns/run", { name: "writes", parameters: {} });
  expect(await refused).toContain("the studio only reads");
  expect((JSON.parse(text) as PatternAnswer).run?.answer).toBeNull();
  expect((await get<ItemsAnswer>("/api/items?partition=STUDENT%23S9")).items).toEqual([]);
});

const writes: readonly (readonly [route: string, body: object])[] = [
  ["rows/change", { type: "student", id: { studentId: "S1" }, set: { name: { text: "Eve" } }, was: { name: "Ann" } }],
  ["rows/create", { type: "student", set: { studentId: { text: "S9" }, name: { text: "Eve" } } }],
  ["rows/delete", { type: "student", id: { studentId: "S3" } }],
  ["rows/import", { type: "student", csv: "studentId,name\nS8,Zoe\n" }],
  ["edges/link", { edge: "livesIn", from: { studentId: "S1" }, to: { country: "PT", city: "Porto" } }],
  ["edges/unlink", { edge: "livesIn", from: { studentId: "S1" }, to: { country: "PT", city: "Porto" } }],
  ["edges/change", { edge: "enrolledIn", from: { studentId: "S1" }, to: { courseId: "C1" }, set: { grade: { text: "A" } }, was: {} }],
  ["parts/create", { part: "note", owner: { studentId: "S1" }, set: { number: { text: "7" }, text: { text: "New" } } }],
  ["parts/change", { part: "note", owner: { studentId: "S1" }, id: { number: 7 }, set: { text: { text: "Old" } }, was: { text: "New" } }],
  ["parts/delete", { part: "note", owner: { studentId: "S1" }, id: { number: 7 } }],
  ["fields", { type: "student", parent: {}, change: "define", name: "Cost", to: { type: "number" } }],
];

test("rows, which nobody can write without --write", async () => {
  const before = await get<RowsAnswer>("/api/rows?type=student");
  expect(before.rows.map(({ name }) => name).sort()).toEqual(["Ann", "Bob", "Cy"]);
  expect((await get<RowsAnswer>(`/api/rows?type=student&filters=${encodeURIComponent('{"year":">2"}')}`)).rows).toMatchObject([
    { name: "Ann" },
  ]);
  for (const [route, body] of writes)
    expect(await post(`/api/${route}`, body)).toMatchObject({ status: 404, text: expect.stringContaining("There is no POST") });
  expect((await get<ItemsAnswer>("/api/items")).items).toHaveLength((await get<ItemsAnswer>("/api/items")).scanned);
  expect((await get<RowsAnswer>("/api/rows?type=student")).rows).toEqual(before.rows);
  for (const query of ["type=none", "type=student&filters=7", "type=student&filters={", "type=student&sort=none", "type=student&cursor=x"])
    expect((await send(`${originOf(studio)}/api/rows?${query}`, { headers: { cookie } })).status).toBe(400);
});

test("with --write: the page writes, a pattern's code still does not, and other pages do neither", async () => {
  const own = await start("dev", "--memory", "--data", "data.json");
  const writing = await start("studio", "--write", "--endpoint", own.ready.endpoint);
  const origin = originOf(writing);
  const signedIn = await signIn(writing);
  const headers = { cookie: signedIn, origin, "content-type": "application/json" };
  const [change] = writes;
  const body = JSON.stringify(change?.[1]);
  const refusals: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
    [{ ...headers, cookie: "" }, 401],
    [{ ...headers, origin: "http://evil.example" }, 403],
    [{ ...headers, host: "evil.example" }, 421],
    [{ ...headers, "content-type": "text/plain" }, 415],
  ];
  for (const [given, status] of refusals)
    expect((await send(`${origin}/api/rows/change`, { method: "POST", headers: given, body })).status).toBe(status);
  const answers = [];
  for (const [route, given] of writes) {
    const { text } = await send(`${origin}/api/${route}`, { method: "POST", headers, body: JSON.stringify(given) });
    answers.push(JSON.parse(text) as unknown);
  }
  expect(answers).toMatchObject([
    { ok: true, row: { name: "Eve", year: 3 } },
    { ok: true },
    { ok: true },
    { rows: 1, failed: 0 },
    {},
    {},
    {},
    {},
    {},
    {},
    {},
  ]);
  const refused = new Promise<string>((resolve) => (process as NodeJS.EventEmitter).once("studioWrite", resolve));
  await send(`${origin}/api/patterns/run`, { method: "POST", headers, body: '{"name":"writes","parameters":{}}' });
  expect(await refused).toContain("the studio only reads");
  const call = 'db.student.create({ studentId: "S5", name: "Flo" })';
  const typed = await send(`${origin}/api/scratch/run`, { method: "POST", headers, body: JSON.stringify({ call }) });
  const { run: ran } = JSON.parse(typed.text) as ScratchAnswer;
  expect(ran).toMatchObject({ answer: { ok: true, row: { name: "Flo" } }, cost: { writeUnits: 1 }, attempts: [{ operation: "PutItem" }] });
  const { text } = await send(`${origin}/api/rows?type=student`, { headers });
  const { rows } = JSON.parse(text) as RowsAnswer;
  expect(rows.map(({ name }) => name).sort()).toEqual(["Bob", "Eve", "Eve", "Flo", "Zoe"]);
  await writing.stop();
  await own.stop();
});

test("an engine that is gone is an answer, not the end of the studio", async () => {
  const alone = await start("studio", "--endpoint", "http://127.0.0.1:9");
  const own = await signIn(alone);
  const { status, text } = await send(`${originOf(alone)}/api/items`, { headers: { cookie: own } });
  expect({ status, code: (JSON.parse(text) as { error: { code: string } }).error.code }).toEqual({
    status: 502,
    code: "execute.connection",
  });
  expect((await send(`${originOf(alone)}/api/model`, { headers: { cookie: own } })).status).toBe(200);
  await alone.stop();
});

test("two run at once: each with its own port, token and cookie; stopping ends every connection", async () => {
  const second = await start("studio", "--endpoint", engine.ready.endpoint);
  expect(originOf(second)).not.toBe(originOf(studio));
  const other = await signIn(second);
  expect((await send(`${originOf(second)}/api/model`, { headers: { cookie } })).status).toBe(401);
  expect((await send(`${originOf(second)}/api/model`, { headers: { cookie: `${cookie}; ${other}` } })).status).toBe(200);
  const token = new URL(studio.ready.link).searchParams.get("token") ?? "";
  expect((await send(`${originOf(second)}/?token=${token}`)).status).toBe(401);
  // A connection that sends nothing must not keep the process.
  const idle = connect(Number(new URL(second.ready.link).port), "127.0.0.1");
  const closed = new Promise<void>((resolve) => idle.on("close", () => resolve()).on("error", () => undefined));
  await new Promise<void>((resolve) => idle.on("connect", () => resolve()));
  expect(await second.stop()).toMatchObject({ code: 0, err: expect.stringContaining("Stopped.") });
  await closed;
  await expect(send(`${originOf(second)}/`)).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("a port in use, and a model without a table's name, end with a message", async () => {
  const { port } = new URL(studio.ready.link);
  const taken = await run(["studio", "--port", port, "--endpoint", engine.ready.endpoint], { cwd: folder.path });
  expect(taken).toMatchObject({ code: 2, out: "", err: expect.stringContaining(`Port ${port} is in use. Choose another with --port`) });
  const missing = await run(["studio", "--model", "none.ts"], { cwd: folder.path });
  expect(missing).toMatchObject({ code: 3, err: expect.stringContaining("There is no model file none.ts.") });
});

test("without the app's package, the message says what to install", async () => {
  const absent = Object.assign(new Error("Cannot find package '@edgetable/studio'"), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(findApp(() => Promise.reject(absent))).rejects.toMatchObject({
    code: "cli.usage",
    message: expect.stringContaining("npm install --save-dev @edgetable/studio"),
  });
  await expect(startStudioServer({ port: 0, folder: folder.path, api: async () => null })).rejects.toMatchObject({
    message: expect.stringContaining("does not contain the built web app"),
  });
});

test("a link that works once", async () => {
  const server = await startStudioServer({ port: 0, folder: (await import("@edgetable/studio")).appFolder, api: async () => null });
  const link = server.oneTimeLink();
  expect((await send(link)).status).toBe(303);
  expect((await send(link)).status).toBe(401);
  await server.close();
});

test("the printed text names the link, the table and the model, and no request prints anything", async () => {
  const controller = new AbortController();
  let ready: (text: string) => void = () => undefined;
  const announced = new Promise<string>((resolve) => (ready = resolve));
  const ended = run(["studio", "--endpoint", engine.ready.endpoint], {
    cwd: folder.path,
    signal: controller.signal,
    onOut: (text) => ready(text),
  });
  const link = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}/.exec(await announced)?.[0] ?? "";
  await send(link);
  await send(`${new URL(link).origin}/?token=wrong`);
  controller.abort();
  const { out, err } = await ended;
  expect(out).toContain(`studio  ${link}`);
  expect(out).toContain("table   Education (127.0.0.1:");
  expect(err).toBe("Anyone with the link can read the table until the studio stops. Press Ctrl-C to stop it.\nStopped.\n");
});

test("the changes of a table, its jobs and dead letters, a migration and a verification, without a write", async () => {
  expect(await get<LiveAnswer>("/api/live?after=0")).toMatchObject({ changes: [], problem: { code: "stream.notEnabled" } });
  await run(["table", "create", "--stream", "--endpoint", engine.ready.endpoint], { cwd: folder.path });
  const row = (name: string) => JSON.stringify({ nodes: { student: [{ studentId: "S7", name }] } });
  const seen = new AbortController();
  const asked = get<LiveAnswer>("/api/live?after=0").finally(() => seen.abort());
  // Nobody tells when the watch has begun: the name changes until it sees that.
  for (let turn = 0; !seen.signal.aborted; turn++) {
    folder.write("more.json", row(`turn ${turn}`));
    await run(["load", "more.json", "--endpoint", engine.ready.endpoint], { cwd: folder.path });
  }
  const answer = await asked;
  const [first] = answer.changes;
  expect(first?.item).toMatchObject({ kind: "node", name: "student", id: { studentId: "S7" } });
  expect((await get<LiveAnswer>(`/api/live?after=${answer.last - 1}`)).changes.at(-1)?.number).toBeGreaterThanOrEqual(answer.last);
  expect(await get<HealthAnswer>("/api/health")).toEqual({ consumers: [], jobs: [], deadLetters: [] });
  expect(await get<MigrationAnswer>("/api/migration")).toMatchObject({ steps: [], refusals: [], underway: false });
  expect(JSON.parse((await post("/api/verify", {})).text)).toMatchObject({ clean: true, kinds: [] });
});
