import { type Finding, type FindingKind, findingKinds, harmless } from "./finding.ts";

/** What was found of one kind. */
export interface KindReport {
  readonly kind: FindingKind;
  /** What the kind is, as a phrase. */
  readonly what: string;
  /** Whether ordinary use leaves such things behind: they do not make a table unclean. */
  readonly isHarmless: boolean;
  readonly count: number;
  /** How many of them were mended in this run. */
  readonly repaired: number;
  /** The first ones. */
  readonly examples: readonly Finding[];
}

/** Findings, counted by kind. */
export interface Collector {
  add(finding: Finding): void;
  /** Says that a finding was mended. */
  repaired(finding: Finding): void;
  readonly kinds: readonly KindReport[];
}

interface Count {
  count: number;
  repaired: number;
  readonly examples: Finding[];
}

/** Opens a collector that keeps so many examples of each kind; with what an earlier run has collected. */
export const openCollector = (examples: number, before: readonly KindReport[] = []): Collector => {
  const counts = new Map<FindingKind, Count>(
    before.map(({ kind, count, repaired, examples: first }) => [kind, { count, repaired, examples: [...first] }]),
  );
  const countOf = (kind: FindingKind): Count => {
    let found = counts.get(kind);
    if (!found) counts.set(kind, (found = { count: 0, repaired: 0, examples: [] }));
    return found;
  };
  return {
    add: (finding) => {
      const one = countOf(finding.kind);
      one.count++;
      if (one.examples.length < examples) one.examples.push(finding);
    },
    repaired: ({ kind }) => void countOf(kind).repaired++,
    get kinds() {
      return (Object.keys(findingKinds) as FindingKind[]).flatMap((kind): readonly KindReport[] => {
        const found = counts.get(kind);
        return found ? [{ kind, what: findingKinds[kind], isHarmless: harmless.has(kind), ...found }] : [];
      });
    },
  };
};
