import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holdsItems } from "../transport.ts";
import { parseAnswer } from "./answer-json.ts";

const outcome = (parse: (text: string) => unknown, text: string): unknown => {
  try {
    return { value: parse(text) };
  } catch (error) {
    return (error as Error).name;
  }
};

/** What an answer's text stands for, told by the simple way. */
const plainly = (text: string): unknown => {
  const output: unknown = JSON.parse(text);
  if (!holdsItems(output)) throw new TypeError("no items");
  return output;
};

const text = fc.oneof(fc.string({ unit: "binary", maxLength: 30 }), fc.constantFrom("S", "N", "Item", "\\", '"', '\\"', "", "a\u2028b"));
const number = fc.oneof(
  fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e125, max: 1e125 }).map(String),
  fc.constantFrom("0", "-7", "1E+30", "12345678901234567890.5"),
);
const bytes = fc.uint8Array().map((some) => Buffer.from(some).toString("base64"));
const { attribute } = fc.letrec<{ attribute: unknown }>((tie) => ({
  attribute: fc.oneof(
    { maxDepth: 4 },
    fc.record({ S: text }),
    fc.record({ N: number }),
    fc.record({ B: bytes }),
    fc.record({ BOOL: fc.boolean() }),
    fc.constant({ NULL: true }),
    fc.record({ SS: fc.array(text) }),
    fc.record({ NS: fc.array(number) }),
    fc.record({ L: fc.array(tie("attribute")) }),
    fc.record({ M: fc.dictionary(text, tie("attribute")) }),
  ),
}));
const item = fc.dictionary(text, attribute, { maxKeys: 45 });
const answer = fc.record(
  {
    Items: fc.array(item),
    Item: item,
    LastEvaluatedKey: item,
    Responses: fc.oneof(fc.array(fc.record({ Item: item }, { requiredKeys: [] })), fc.dictionary(text, fc.array(item))),
    Count: fc.nat(),
    ConsumedCapacity: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

describe("what JSON.parse gives", () => {
  test("of every answer", () => {
    fc.assert(
      fc.property(answer, fc.constantFrom(0, 0, 0, 1), (value, indent) => {
        const body = JSON.stringify(value, undefined, indent);
        expect(parseAnswer(body)).toEqual(JSON.parse(body));
      }),
    );
  });

  test("but for items that hold what no attribute holds: an error", () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.record({ S: fc.nat() }),
      fc.record({ N: text }),
      fc.record({ B: text }),
      fc.record({ S: text, N: number }),
      fc.record({ L: fc.array(fc.jsonValue()) }),
      fc.record({ M: fc.jsonValue() }),
      fc.record({ NULL: fc.boolean() }),
    );
    const wrong = fc.dictionary(text, fc.oneof(attribute, odd), { maxKeys: 4 });
    const place = fc.constantFrom("Item", "Items", "Attributes", "LastEvaluatedKey", "Responses", "Texts");
    const form = fc.oneof(
      wrong,
      fc.array(wrong),
      fc.dictionary(text, fc.array(wrong)),
      fc.array(fc.record({ Item: wrong })),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(place, form, (name, value) => {
        const body = JSON.stringify({ [name]: value, Count: 1 });
        expect(outcome(parseAnswer, body)).toEqual(outcome(plainly, body));
      }),
      { numRuns: 2000 },
    );
  });

  test("of an item with the types that are rare", () => {
    const body = '{"Item":{"a":{"B":"AQI="},"b":{"BS":["AQ=="]},"c":{"BOOL":false},"d":{"NS":["1","-2.5e3"]},"e":{"M":{"f":{"L":[]}}}}}';
    expect(parseAnswer(body)).toEqual(JSON.parse(body));
  });

  test("of escapes at any place of a text", () => {
    for (const json of ['"\\""', '"\\\\"', '{"a\\"b":"\\\\","c":"\\u00e9\\n"}', '{"S":"a\\\\"}', '{"S":"\\\\\\""}', '["\\\\","x","\\"y"]'])
      expect(parseAnswer(`{"Other":${json}}`)).toEqual({ Other: JSON.parse(json) });
  });

  test("of numbers, and of what only looks like one", () => {
    for (const json of [
      "[0,7,10,999999999999999,9999999999999999,12345678901234567890,-1,0.5,1e3,1.0,-0]",
      "[0.1,12.75,0.30000000000000004,123456789.123456,1.5e3,0.000001,10.10]",
      ".",
      "5.",
      "[1..5]",
      "[1.2.3]",
      "[00.5]",
      "[01]",
      "[1.]",
      "[-]",
      "[.5]",
      "[1",
      "[",
      "[,]",
    ])
      expect(outcome(parseAnswer, `{"Other":${json}}`)).toEqual(outcome(JSON.parse, `{"Other":${json}}`));
  });

  test("of decimals, to the last bit", () => {
    const decimal = fc
      .tuple(fc.nat({ max: 999_999_999 }), fc.nat({ max: 999_999 }), fc.integer({ min: 1, max: 6 }))
      .map(([whole, part, digits]) => `${whole}.${String(part).padStart(digits, "0").slice(0, digits)}`);
    fc.assert(
      fc.property(decimal, (text) => Object.is((parseAnswer(`{"Count":${text}}`) as { readonly Count: number }).Count, JSON.parse(text))),
    );
  });

  test("of names that are no ordinary names", () => {
    const read = (parseAnswer('{"Item":{"__proto__":{"S":"x"},"constructor":{"S":"y"},"7":{"S":"z"}}}') as { readonly Item: object }).Item;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Object.entries(read)).toHaveLength(3);
    expect(parseAnswer('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
  });

  test("of an answer deeper than the stack", () => {
    const depth = 5000;
    const body = `${'{"L":['.repeat(depth)}${"]}".repeat(depth)}`;
    expect(outcome(parseAnswer, `{"Item":{"deep":${body}}}`)).toBe("TypeError");
    let found = 0;
    for (
      let value = (parseAnswer(`{"Other":${body}}`) as { readonly Other: unknown }).Other;
      value !== undefined;
      value = (value as { L: unknown[] }).L[0]
    )
      found++;
    expect(found).toBe(depth);
  });

  test("of what is no JSON: an error", () => {
    const mutilated = fc
      .tuple(answer, fc.nat(), fc.constantFrom("", '"', "{", "}", "[", "]", ",", ":", "\\", "x", "1", " "))
      .map(([value, place, put]) => {
        const body = JSON.stringify(value);
        const at = place % (body.length + 1);
        return body.slice(0, at) + put + body.slice(at + 1);
      });
    fc.assert(
      fc.property(fc.oneof(mutilated, fc.string(), fc.json()), (body) => {
        // JSON.parse alone refuses control characters, which a mutilated escape may leave.
        fc.pre(!/[\u0000-\u001f]/.test(body));
        expect(outcome(parseAnswer, body)).toEqual(outcome(plainly, body));
      }),
      { numRuns: 2000 },
    );
  });
});

test("members come in one order, whatever the order in the answer", () => {
  const orderOf = (body: string): string => Object.keys(parseAnswer(body) as object).join();
  const first = orderOf('{"one":{"S":"1"},"two":{"N":"2"},"three":{"BOOL":true}}');
  expect(orderOf('{"three":{"BOOL":true},"one":{"S":"1"},"two":{"N":"2"}}')).toBe(first);
  expect(orderOf('{"two":{"N":"2"},"one":{"S":"1"}}')).toBe("one,two");
});

test("more names than it remembers are read all the same", () => {
  for (let at = 0; at < 5000; at++) expect(parseAnswer(`{"name-${at}":1,"x":2}`)).toEqual({ [`name-${at}`]: 1, x: 2 });
});

describe("the one text of each item that is wanted", () => {
  const column = { attribute: "sk", beginning: "knows#" };

  test("stands in Texts, without its beginning, beside whatever else the answer says", () => {
    const page = fc.record({ texts: fc.array(text), Count: fc.nat(), LastEvaluatedKey: fc.record({ sk: fc.record({ S: text }) }) });
    fc.assert(
      fc.property(page, ({ texts, ...rest }) => {
        const Items = texts.map((one) => ({ sk: { S: `knows#${one}` } }));
        for (const whole of [
          { Items, ...rest },
          { ...rest, Items },
        ])
          expect(parseAnswer(JSON.stringify(whole), column)).toEqual({ ...rest, Texts: texts });
      }),
    );
  });

  test("an answer that is otherwise comes as items", () => {
    for (const body of [
      '{"Items":[{"sk":{"S":"likes#1"}}]}',
      '{"Items":[{"sk":{"S":"knows#1"}},{"pk":{"S":"knows#1"}}]}',
      '{"Items":[{"sk":{"S":"knows#1"},"pk":{"S":"x"}}]}',
      '{"Items":[{"sk":{"N":"1"}}]}',
      '{"Items": [{"sk":{"S":"knows#1"}}]}',
    ])
      expect(parseAnswer(body, column)).toEqual(JSON.parse(body));
    expect(outcome((body) => parseAnswer(body, column), '{"Items":{"sk":{"S":"knows#1"}}}')).toBe("TypeError");
    expect(parseAnswer('{"Count":0}', column)).toEqual({ Count: 0 });
    expect(parseAnswer('{"Items":[]}', column)).toEqual({ Texts: [] });
    expect(outcome((body) => parseAnswer(body, column), '{"Items":[],"Texts":["x"]}')).toBe("TypeError");
    expect(outcome((body) => parseAnswer(body, column), '{"Items":[{"sk":{"S":"knows#1"}}]')).toBe("SyntaxError");
  });
});
