import { type } from "arktype";
import * as v from "valibot";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { edge, node, part } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";

/** A schema's rule across attributes holds for a change where the model says `validate: "row"`. */
const RULE = "ends before it starts";
const dated = { starts: z.number(), ends: z.number(), note: z.string().optional() };
const inOrder = ({ starts, ends }: { readonly starts: number; readonly ends: number }): boolean => starts <= ends;
const ordered = (schema: z.ZodObject) => schema.refine(inOrder as never, { message: RULE, path: ["ends"] });
const schemas = {
  zod: ordered(z.object({ id: z.string(), ...dated })),
  valibot: v.pipe(
    v.object({ id: v.string(), starts: v.number(), ends: v.number(), note: v.optional(v.string()) }),
    v.forward(
      v.check(({ starts, ends }) => starts <= ends, RULE),
      ["ends"],
    ),
  ),
  arktype: type({ id: "string", starts: "number", ends: "number", "note?": "string" }).narrow((row, context) =>
    inOrder(row) ? true : context.reject({ message: RULE, path: ["ends"] }),
  ),
};

let lab: WriteLab;
afterEach(async () => lab.stop());

const term = { id: "T1" };
const broken = { code: "schema.invalidValue", message: expect.stringContaining(RULE) as string, details: { issues: [{ path: "ends" }] } };
const requests = (): readonly string[] => lab.sent.map(({ operation }) => operation);

const open = async (schema: unknown, settings: object = {}): Promise<void> => {
  lab = await openWriteLab({
    table: "Terms",
    nodes: { term: node({ key: "TERM#{id}", schema: schema as typeof schemas.zod, validate: "row", ...settings } as never) },
    edges: {
      follows: edge({
        from: "term",
        to: "term",
        schema: ordered(z.object({ ...dated, starts: z.number().optional(), ends: z.number().optional() })) as never,
        validate: "row",
      }),
      beside: edge({
        from: "term",
        to: "term",
        stored: "twice",
        schema: ordered(z.object(dated)),
        sides: { from: ["starts"], to: ["ends", "note"] },
        validate: "row",
      } as never),
    },
    parts: {
      week: part({ of: "term", key: "WEEK#{n:2}", schema: ordered(z.object({ n: z.number(), ...dated })) as never, validate: "row" }),
    },
  });
};

test.each([
  ["zod", z.object({ id: z.string(), ...dated }).refine(inOrder, RULE)],
  [
    "valibot",
    v.pipe(
      v.object({ id: v.string(), starts: v.number(), ends: v.number() }),
      v.check((row) => inOrder(row), RULE),
    ),
  ],
  [
    "arktype",
    type({ id: "string", starts: "number", ends: "number" }).narrow((row, context) => inOrder(row) || context.reject({ message: RULE })),
  ],
])("a rule of %s on the row as a whole names no attribute", async (_, schema) => {
  await open(schema);
  const refused = lab.node("term").create({ ...term, starts: 5, ends: 3 });
  await expect(refused).rejects.toMatchObject({
    message: `"term" does not fit its schema: ${RULE}.`,
    details: { issues: [{ path: "", message: RULE }] },
  });
  await lab
    .node("term")
    .create({ ...term, starts: 3, ends: 5 })
    .orThrow();
  await expect(lab.node("term").update(term, { ends: 1 })).rejects.toMatchObject({ details: { issues: [{ path: "", message: RULE }] } });
});

describe.each(Object.entries(schemas))("%s", (_, schema) => {
  test("an update reads the row, checks it as changed, and writes on condition of what it read", async () => {
    await open(schema);
    await lab.node("term").create({ ...term, starts: 3, ends: 5 });
    lab.sent.length = 0;
    await expect(lab.node("term").update(term, { ends: 2 })).rejects.toMatchObject(broken);
    expect(requests()).toEqual(["GetItem"]);
    lab.sent.length = 0;
    await expect(lab.node("term").update(term, { ends: 4 })).resolves.toMatchObject({ ok: true, row: { ...term, starts: 3, ends: 4 } });
    expect(lab.sent.map(({ operation, input }) => [operation, lab.shown(input)])).toEqual([
      ["GetItem", expect.objectContaining({ Key: { pk: { S: "TERM#T1" }, sk: { S: "#" } }, ConsistentRead: true })],
      [
        "UpdateItem",
        expect.objectContaining({
          UpdateExpression: "SET #0 = :0",
          ExpressionAttributeNames: { "#0": "ends", "#1": "starts", "#2": "note" },
          // That the item is there, and what the rule may look at: starts, and that there is no note.
          ConditionExpression: "attribute_exists(pk) AND #1 = :1 AND attribute_not_exists(#2)",
        }),
      ],
    ]);
    // What add makes is checked too.
    await expect(lab.node("term").update(term, { add: { starts: 2 } })).rejects.toMatchObject(broken);
    await lab
      .node("term")
      .update(term, { add: { starts: 1 } })
      .orThrow();
    await lab
      .node("term")
      .update(term, { remove: ["note"] })
      .orThrow();
  });
});

test("another writer that comes between is seen: the change is checked against what it left", async () => {
  await open(schemas.zod);
  await lab.node("term").create({ ...term, starts: 3, ends: 5 });
  let starts: number | undefined = 4;
  lab.hooks.before = async ({ operation }) => {
    if (operation !== "UpdateItem" || starts === undefined) return;
    const other = { ...term, starts, ends: 9 };
    starts = undefined;
    await lab.node("term").put(other);
  };
  lab.sent.length = 0;
  await expect(lab.node("term").update(term, { ends: 3 })).rejects.toMatchObject(broken);
  expect(requests()).toEqual(["GetItem", "UpdateItem", "PutItem"]);
  starts = 5;
  lab.sent.length = 0;
  await lab.node("term").update(term, { ends: 7 }).orThrow();
  expect(requests()).toEqual(["GetItem", "UpdateItem", "PutItem", "UpdateItem"]);
  expect(Object.values(await lab.items())).toMatchObject([{ starts: { N: "5" }, ends: { N: "7" } }]);
});

test("with a version, the version alone is the condition", async () => {
  await open(ordered(z.strictObject({ id: z.string(), ...dated })), { version: true });
  await lab.node("term").create({ ...term, starts: 3, ends: 5 });
  lab.sent.length = 0;
  await lab.node("term").update(term, { ends: 4 }).orThrow();
  expect(lab.sent.at(-1)!.input.ConditionExpression).toBe("attribute_exists(pk) AND #1 = :2");
  await expect(lab.node("term").update(term, { ends: 1 }, { ifVersion: 2 })).rejects.toMatchObject(broken);
  expect((await lab.node("term").update(term, { ends: 8 }, { ifVersion: 1 })).reason).toBe("versionConflict");
});

test("the change of an upsert, of a part, by path and in a transaction", async () => {
  await open(schemas.zod);
  const upsert = (ends: number) => lab.node("term").upsert({ ...term, starts: 3, ends: 5 }, { ends });
  expect((await upsert(4)).created).toBe(true);
  await expect(upsert(2)).rejects.toMatchObject(broken);
  expect((await upsert(6)).created).toBe(false);
  await expect(lab.transact([lab.node("term").update(term, { starts: 7 })] as never)).rejects.toMatchObject(broken);
  const week = { n: 1 };
  await lab
    .part("week")
    .create(term, { ...week, starts: 1, ends: 2 })
    .orThrow();
  await expect(lab.part("week").update(term, week, { starts: 3 })).rejects.toMatchObject(broken);
  expect(
    (await lab.transact([lab.part("week").update(term, week, { starts: 2 }), lab.node("term").update(term, { ends: 9 })] as never)).ok,
  ).toBe(true);
  expect((await lab.part("week").update(term, { n: 2 }, { starts: 3 })).reason).toBe("notFound");
});

test("an edge, with attributes that are all optional, and one whose copies have attributes of their own", async () => {
  await open(schemas.zod);
  const other = { id: "T2" };
  for (const one of [term, other])
    await lab
      .node("term")
      .create({ ...one, starts: 1, ends: 2 })
      .orThrow();
  await lab.edge("follows").link(term, other, { starts: 3, ends: 5 }).orThrow();
  await expect(lab.edge("follows").relink(term, other, { ends: 2 })).rejects.toMatchObject(broken);
  await lab.edge("follows").relink(term, other, { ends: 3 }).orThrow();
  await lab.edge("beside").link(term, other, { starts: 3, ends: 5 }).orThrow();
  await expect(lab.edge("beside").relink(term, other, { ends: 2 })).rejects.toMatchObject(broken);
  await expect(lab.edge("beside").relink(term, other, { starts: 6 })).rejects.toMatchObject(broken);
  await lab.edge("beside").relink(term, other, { starts: 4 }).orThrow();
});

test("explain says why the row is read", async () => {
  await open(schemas.zod);
  const { notes } = await lab.node("term").update(term, { ends: 2 }).explain();
  expect(notes[0]).toBe('reads "term" first: its schema checks the whole row');
});

const strict = {
  zod: z.strictObject({ id: z.string(), starts: z.number(), ends: z.number() }),
  valibot: v.strictObject({ id: v.string(), starts: v.number(), ends: v.number() }),
  arktype: type({ "+": "reject", id: "string", starts: "number", ends: "number" }),
};

describe.each(Object.entries(strict))("a schema of %s that takes no other attributes", (_, schema) => {
  test.each([
    { timestamps: true },
    { timestamps: { created: "made", modified: "changed", as: "date" }, version: true },
    { timestamps: { modified: false, as: "seconds" } },
  ])("sees neither version nor times: %o", async (settings) => {
    await open(schema, settings);
    await lab
      .node("term")
      .create({ ...term, starts: 1, ends: 3 })
      .orThrow();
    await lab.node("term").update(term, { ends: 4 }).orThrow();
    await lab
      .node("term")
      .upsert({ ...term, starts: 1, ends: 3 }, { add: { ends: 1 } } as never)
      .orThrow();
    const { outcomes } = await lab.transact([lab.node("term").update(term, { starts: 2 })]);
    expect(outcomes[0]).toMatchObject({ ok: true, row: { ...term, starts: 2, ends: 5 } });
  });
});
