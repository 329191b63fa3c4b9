/** A node of the syntax tree: ESTree's, or what a parser of TypeScript makes. */
export interface Node {
  readonly type: string;
  readonly parent?: Node | undefined;
  readonly [member: string]: unknown;
}

/** A scope, as far as variables are looked up in it. */
export interface Scope {
  readonly upper: Scope | null;
  readonly set: { get(name: string): unknown };
}

export interface Type {
  getProperty(name: string): unknown;
}

/** What a rule asks of the linter. ESLint 9 and 10 and oxlint's plugins in JavaScript have it. */
export interface SourceCode {
  getScope(node: Node): Scope;
  /** Types, where the parser is typescript-eslint's and has a project. */
  readonly parserServices?: { readonly program?: unknown; readonly getTypeAtLocation?: (node: Node) => Type } | undefined;
}

interface Fixer {
  insertTextBefore(node: Node, text: string): unknown;
  insertTextAfter(node: Node, text: string): unknown;
}

/** A suggestion of an editor. */
export interface Suggestion {
  readonly messageId: string;
  fix(fixer: Fixer): unknown;
}

/** What a rule is made with. */
export interface RuleContext {
  readonly sourceCode: SourceCode;
  readonly options: readonly unknown[];
  readonly settings: Readonly<Record<string, unknown>>;
  report(finding: {
    readonly node: Node;
    readonly messageId: string;
    readonly data?: Readonly<Record<string, string>>;
    readonly suggest?: readonly Suggestion[];
  }): void;
}

/** A rule, for ESLint and for oxlint. */
export interface Rule {
  readonly meta: {
    readonly type: "problem";
    readonly docs: { readonly description: string; readonly url: string };
    readonly messages: Readonly<Record<string, string>>;
    readonly schema: readonly object[];
    readonly hasSuggestions: true;
  };
  // oxlint-disable-next-line typescript/no-explicit-any -- each linter has a type of its own for it
  create(context: any): Record<string, (node: any) => void>;
}

const NAMES: readonly string[] = ["db"];

/** The names that are taken for connections in files without types: those of the settings, or `db`. */
export const connectionNames = ({ settings }: RuleContext): readonly string[] => {
  const own = settings["edgetable"] as { readonly connections?: readonly string[] } | undefined;
  return own?.connections ?? NAMES;
};
