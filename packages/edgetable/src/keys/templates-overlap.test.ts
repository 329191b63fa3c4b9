import { expect, test } from "vitest";
import { parseTemplate } from "./parse-template.ts";
import { templatesOverlap } from "./compare-templates.ts";

const own = (source: string) => parseTemplate(source, { delimiter: "#", escapes: true });

test.each([
  ["STUDENT#{id}", "COURSE#{id}", false],
  ["STUDENT#{id}", "STUDENT#{name}", true],
  ["STUDENT#{id}", "STUDENT#{id}#TERM#{term}", false],
  ["TEACHER#{t}#CLASS#{c}", "TEACHER#{t}#ROOM#{r}", false],
  ["TEACHER#{t}#CLASS#{c}", "TEACHER#{t}#{kind}#{c}", true],
  ["{type}#{id}", "COURSE#{id}", true],
  ["{id}", "METADATA", true],
  ["{id}", "two words", false],
  ["{id}#{n:6}", "{id}#{n:8}", false],
  ["{n:6}", "{n:plain}", true],
  ["{n:6}", "000042", true],
  ["{n:6}", "42", false],
  ["{n:6}", "{id}", true],
  ["{n:number}", "{n:6}", false],
  ["{n:number}", "{flag:boolean}", false],
  ["{at:date}", "{n:number}", false],
  ["{at:date}", "{at:date}", true],
  ["{flag:boolean}", "{n:shard(16)}", false],
  ["{n:shard(16)}", "{n:2}", true],
  ["{n:shard(16)}", "{n:3}", false],
  ["{v:6|boolean}", "{n:number}", false],
  ["{v:6|text}", "{n:number}", true],
  ["{n:number}", "{v:6|number}", true],
  ["{a:digits}", "{b:letters}", false],
  ["{a:digits}", "{n:6}", true],
  ["{a:digits}", "{n:plain}", true],
  ["{a:digits}", "{at:date}", false],
  ["{a:letters}", "{n:number}", true],
  ["{a:letters}", "{flag:boolean}", true],
  ["{a:letters}", "{id}", true],
  ["{a:digits}#{b}", "{b:letters}#{c}", false],
  ["{a:letters}", "ORDER", true],
  ["{a:digits}", "ORDER", false],
  ["X{id}", "{n:6}", false],
  ["X{id}", "{id}", true],
  ["X{id}", "XY{id}", true],
  ["X{id}", "Z{id}", false],
  ["1{id}", "{n:6}", true],
  ["v{n:6}", "{v:number|boolean}", false],
  ["t{id}", "{v:number|boolean}", true],
  ["root", "root", true],
  ["root", "ROOT", false],
  ["root", "root{id}", false],
])("%s and %s: %s", (a, b, overlap) => {
  expect(templatesOverlap(own(a), own(b))).toBe(overlap);
  expect(templatesOverlap(own(b), own(a))).toBe(overlap);
});

test("templates of different delimiters overlap unless their first literals differ", () => {
  const dashed = parseTemplate("issue-{id}", { delimiter: "-", escapes: false });
  expect(templatesOverlap(own("PROJECT#{id}"), dashed)).toBe(false);
  expect(templatesOverlap(own("{id}"), dashed)).toBe(true);
});

test.each([
  ["{at:date}", "Join:{id}", false],
  ["{at:date}", "2024:{id}", true],
  ["{at:date}", "meta", false],
  ["{at:date}|{id}", "2024-01-01T00:00:00.000Z|:{id}", true],
  ["v{n:plain}", "vacant:{id}", false],
  ["v{n:2}|{id}", "v12|:{id}", true],
  ["v{n:2}", "v123:{id}", false],
  ["{n:6|text}", "Join:{id}", true],
  ["{id}", "Join:{id}", true],
])("%s and, with another delimiter, %s: %s", (source, other, overlap) => {
  const a = parseTemplate(source, { delimiter: "|", escapes: false });
  const b = parseTemplate(other, { delimiter: ":", escapes: false });
  expect(templatesOverlap(a, b)).toBe(overlap);
  expect(templatesOverlap(b, a)).toBe(overlap);
});
