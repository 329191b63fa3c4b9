import type { Catalog, Item } from "edgetable";
import { encodeItem } from "../../packages/edgetable/src/requests/encode-item.ts";

/** Facts as a plain reader of the table computes them, and as the table has them, for one history. */

type Attribute = Readonly<Record<string, string>> | undefined;
const text = (item: Item, name: string): string => (item[name] as Attribute)?.["S"] ?? "";
const numberOf = (item: Item | undefined, name: string): number | undefined => {
  const value = (item?.[name] as Attribute)?.["N"];
  return value === undefined ? undefined : Number(value);
};
// Decimals of at most one place.
const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + Math.round(one * 10), 0) / 10;
const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b);

interface Enrolment {
  readonly item: Item;
  readonly student: string;
  readonly course: string;
  readonly grade: number | undefined;
}

const near = (a: unknown, b: unknown): boolean => (typeof a === "number" && typeof b === "number" ? Math.abs(a - b) < 1e-9 : a === b);

/** What is wrong in the items of a history; empty if every fact is right. */
export const wrongFacts = (catalog: Catalog, items: readonly Item[], history: string): readonly string[] => {
  const ofHistory = (key: string): boolean => key.includes(`#${history}`);
  const nodes = new Map(items.filter((item) => text(item, "sk") === "#").map((item) => [text(item, "pk"), item]));
  const edges = items.flatMap((item): Enrolment[] => {
    const sort = text(item, "sk");
    if (!sort.startsWith("enrolledIn#") || !ofHistory(text(item, "pk"))) return [];
    return [{ item, student: text(item, "pk"), course: sort.slice("enrolledIn#".length), grade: numberOf(item, "grade") }];
  });
  const marks = items.flatMap((item) => {
    const [edge, type, id] = text(item, "sk").split("#");
    return edge === "marked" && ofHistory(text(item, "pk"))
      ? [{ student: text(item, "pk"), course: `${type}#${id}`, grade: numberOf(item, "grade") }]
      : [];
  });
  const attended = items.flatMap((item) => {
    const [edge, type, id] = text(item, "sk").split("#");
    if ((edge !== "attends" && edge !== "~attends") || !ofHistory(text(item, "pk"))) return [];
    const [own, other] = [text(item, "pk"), `${type}#${id}`];
    return [edge === "attends" ? { item, student: own, course: other } : { item, student: other, course: own }];
  });
  const wrong: string[] = [];
  const expect = (what: string, is: unknown, should: unknown): void => {
    if (!near(is, should)) wrong.push(`${what} is ${String(is)} and should be ${String(should)}`);
  };
  for (const [key, item] of nodes) {
    if (!ofHistory(key)) continue;
    if (key.startsWith("COURSE#")) {
      const at = edges.filter(({ course }) => course === key);
      const grades = at.flatMap(({ grade }) => grade ?? []);
      const lessons = items.filter((one) => text(one, "pk") === key && text(one, "sk").startsWith("LESSON#"));
      const should: Record<string, number | undefined> = {
        students: at.length,
        passed: grades.filter((grade) => grade >= 5).length,
        points: total(grades),
        weight: at.some(({ item: one }) => numberOf(one, "weight") !== undefined) ? 2 : undefined,
        mean: grades.length > 0 ? total(grades) / grades.length : undefined,
        worst: sorted(grades)[0],
        best: sorted(grades).at(-1),
        kinds: new Set(grades).size,
        attendees: new Set(at.map(({ student }) => student)).size,
        hours: total(lessons.map((one) => numberOf(one, "hours") ?? 0)),
      };
      for (const name in should) expect(`${name} of ${key}`, numberOf(item, name), should[name]);
      const shape = catalog.nodes["course"]?.shape;
      const order = shape && encodeItem(catalog, shape, { id: key.slice("COURSE#".length), students: at.length })["byStudentsSk"];
      expect(`the index key of ${key}`, text(item, "byStudentsSk"), order && "S" in order ? order.S : "");
    } else if (key.startsWith("STUDENT#")) {
      const credits = edges.filter(({ student }) => student === key).map((one) => numberOf(one.item, "credits") ?? 0);
      expect(`credits of ${key}`, numberOf(item, "credits"), total(credits));
      const own = attended.filter((one) => text(one.item, "pk") === key);
      expect(`effort of ${key}`, numberOf(item, "effort"), total(own.map((one) => numberOf(one.item, "total") ?? 0)));
    }
  }
  for (const { item, student, course } of attended) {
    const all = marks.filter((one) => one.student === student && one.course === course);
    const grades = all.flatMap(({ grade }) => grade ?? []);
    const where = `${text(item, "sk")} of ${text(item, "pk")}`;
    expect(`tests of ${where}`, numberOf(item, "tests"), all.length);
    expect(`total of ${where}`, numberOf(item, "total"), total(grades));
    expect(`top of ${where}`, numberOf(item, "top"), sorted(grades).at(-1));
  }
  for (const { item, student, course } of edges) {
    const [from, to] = [nodes.get(student), nodes.get(course)];
    // A node that is gone leaves its last copies.
    if (from) expect(`studentName of ${student} ${course}`, text(item, "studentName"), text(from, "name"));
    if (to) expect(`courseName of ${student} ${course}`, text(item, "courseName"), text(to, "name"));
    if (to) expect(`credits of ${student} ${course}`, numberOf(item, "credits"), numberOf(to, "hours"));
  }
  return wrong;
};
