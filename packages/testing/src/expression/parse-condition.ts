import type { Comparator, Condition, Expression, Operand, TestName } from "./condition.ts";
import { type Path, readPath } from "./path.ts";
import { type Tokens, tokensOf } from "./tokens.ts";

interface Reader {
  readonly tokens: Tokens;
  readonly expression: Expression;
}

const comparators: ReadonlySet<string> = new Set(["=", "<>", "<", "<=", ">", ">="]);
const tests: ReadonlySet<string> = new Set(["attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains"]);

const path = ({ tokens, expression }: Reader): Path => readPath(tokens, expression.names);

const operand = (reader: Reader): Operand => {
  const { tokens, expression } = reader;
  const word = tokens.peek();
  if (word.startsWith(":")) return { kind: "value", value: expression.values[tokens.take()] ?? tokens.fail() };
  const inner = path(reader);
  if (word !== "size" || !tokens.accept("(")) return { kind: "path", path: inner };
  const sized = path(reader);
  tokens.expect(")");
  return { kind: "size", path: sized };
};

const operands = (reader: Reader): readonly Operand[] => {
  reader.tokens.expect("(");
  const list = [operand(reader)];
  while (reader.tokens.accept(",")) list.push(operand(reader));
  reader.tokens.expect(")");
  return list;
};

const test = (reader: Reader): Condition => {
  const { tokens } = reader;
  const name = tokens.take() as TestName;
  tokens.expect("(");
  const subject = path(reader);
  const argument = tokens.accept(",") ? operand(reader) : undefined;
  tokens.expect(")");
  return { kind: "test", name, path: subject, ...(argument && { argument }) };
};

const between = (reader: Reader, subject: Operand): Condition => {
  const low = operand(reader);
  reader.tokens.expect("AND");
  return { kind: "between", operand: subject, low, high: operand(reader) };
};

const comparison = (reader: Reader): Condition => {
  const { tokens } = reader;
  const left = operand(reader);
  if (tokens.accept("BETWEEN")) return between(reader, left);
  if (tokens.accept("IN")) return { kind: "in", operand: left, list: operands(reader) };
  if (!comparators.has(tokens.peek())) return tokens.fail();
  return { kind: "compare", comparator: tokens.take() as Comparator, left, right: operand(reader) };
};

const primary = (reader: Reader): Condition => {
  const { tokens } = reader;
  if (tokens.accept("NOT")) return { kind: "not", inner: primary(reader) };
  if (tests.has(tokens.peek())) return test(reader);
  if (!tokens.accept("(")) return comparison(reader);
  const inner = disjunction(reader);
  tokens.expect(")");
  return inner;
};

const conjunction = (reader: Reader): Condition => {
  const all = [primary(reader)];
  while (reader.tokens.accept("AND")) all.push(primary(reader));
  return { kind: "and", all };
};

const disjunction = (reader: Reader): Condition => {
  const all = [conjunction(reader)];
  while (reader.tokens.accept("OR")) all.push(conjunction(reader));
  return { kind: "or", all };
};

/**
 * Reads a KeyConditionExpression or FilterExpression.
 *
 * @throws {plan.unsupported} when it is not in the grammar that this reader knows
 */
export const parseCondition = (expression: Expression): Condition => {
  const reader = { tokens: tokensOf(expression.text), expression };
  const condition = disjunction(reader);
  return reader.tokens.peek() === "" ? condition : reader.tokens.fail();
};
