import { EdgetableError } from "edgetable";

/** Words and signs of an expression, read from left to right. */
export interface Tokens {
  /** The next token without taking it; empty at the end. */
  peek(): string;
  take(): string;
  /** Takes the next token when it is this one; letters' case does not count. */
  accept(token: string): boolean;
  expect(token: string): void;
  /** Refuses the expression. */
  fail(): never;
}

const pattern = /\s*(<>|<=|>=|[=<>(),.[\]]|[:#]?[\w-]+)/y;

const split = (text: string): readonly string[] | undefined => {
  const tokens: string[] = [];
  pattern.lastIndex = 0;
  for (let end = 0; end < text.trimEnd().length; end = pattern.lastIndex) {
    const token = pattern.exec(text)?.[1];
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return tokens;
};

/** @throws {plan.unsupported} from any of its functions, when the expression is beyond this reader */
export const tokensOf = (expression: string): Tokens => {
  const list = split(expression) ?? [];
  let next = 0;
  const fail = (): never => {
    const message = `the fault transport cannot read the expression "${expression}" near "${list[next] ?? "its end"}": switch lag off for this query`;
    throw new EdgetableError("plan.unsupported", message, { details: { expression, position: next } });
  };
  const accept = (token: string): boolean => {
    if (list[next]?.toUpperCase() !== token) return false;
    next++;
    return true;
  };
  return {
    peek: () => list[next] ?? "",
    take: () => list[next++] ?? fail(),
    accept,
    expect: (token) => void (accept(token) || fail()),
    fail,
  };
};
