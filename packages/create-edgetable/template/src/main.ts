import { education } from "./model.ts";

// `npm run dev` starts an engine at this address. On AWS, connect() takes region and credentials from the environment.
const db = education.connect({ endpoint: process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "http://127.0.0.1:8000" });
await db.table.create(); // a table that exists stays as it is

await db.student.create({ studentId: "S1", name: "John Doe", email: "john@example.com" }); // the second time: { ok: false, reason: "exists" }
await db.student.create({ studentId: "S2", name: "Jane Roe", email: "jane@example.com" });
await db.course.create({ courseId: "C1", name: "Advanced Mathematics", credits: 3 });
await db.enrolledIn.link({ studentId: "S1" }, { courseId: "C1" }, { enrolledAt: "2024-03-31T10:00:00", grade: "A" });
await db.enrolledIn.link({ studentId: "S2" }, { courseId: "C1" }, { enrolledAt: "2024-04-02T09:30:00" });

const john = db.student({ studentId: "S1" });
const mathematics = db.course({ courseId: "C1" });

const entries = await mathematics.in("enrolledIn").entries(); // [{ edge, node }]: one Query, one BatchGetItem
const { edges } = await john.collection(); // the node and all its edges: one Query
const recent = await john.out("enrolledIn").where({ enrolledAt: { gte: "2024-03" } }).page({ limit: 20 });
const classmates = await john.out("enrolledIn").in("enrolledIn").dedupe().except("start").nodes({ budget: { requests: 200 } });
const found = await db.find("course").where({ name: { beginsWith: "Adv" } }).rows(); // by value, through the index byName
const plan = mathematics.in("enrolledIn").entries().explain(); // the exact requests and their price, without running

for (const { edge, node } of entries) console.log(`${node?.name} takes mathematics since ${edge.enrolledAt}`);
console.log(`John's courses: ${edges.enrolledIn?.length}, and since March: ${recent.items.length}`);
for (const { name, email } of classmates) console.log(`A classmate of John's: ${name}, ${email}`);
for (const { name, credits } of found) console.log(`A course named Adv…: ${name}, ${credits} credits`);
console.log(`Who takes a course: ${plan.requests.map(({ operation }) => operation).join(", ")}; ${plan.cost.readUnits} read units`);

await db.close();
