import { education } from "./model.ts";

// `npm run dev` starts a local engine at this address. On AWS, connect() reads the region and credentials from the environment.
const db = education.connect({ endpoint: process.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "http://127.0.0.1:8000" });
await db.table.create(); // leaves an existing table unchanged

await db.student.create({ studentId: "S1", name: "John Doe", email: "john@example.com" }); // on a second run: { ok: false, reason: "exists" }
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
const found = await db.find("course").where({ name: { beginsWith: "Adv" } }).rows(); // by value, using the index byName
const plan = await mathematics.in("enrolledIn").entries().explain(); // the exact requests and their cost; sends nothing

for (const { edge, node } of entries) console.log(`${node?.name} enrolled in mathematics on ${edge.enrolledAt}`);
console.log(`John's courses: ${edges.enrolledIn?.length}; since March: ${recent.items.length}`);
for (const { name, email } of classmates) console.log(`John's classmate: ${name}, ${email}`);
for (const { name, credits } of found) console.log(`Course found by name: ${name}, ${credits} credits`);
console.log(`Students of a course: ${plan.requests.map(({ operation }) => operation).join(", ")}; ${plan.cost.readUnits} read units`);

await db.close();
