import { createLeanTransport, type Transport } from "edgetable";

/** A server that has index keys of several attributes: see `npm run test:composite-keys`. */
export const endpoint: string | undefined = process.env["EDGETABLE_COMPOSITE_KEYS_ENDPOINT"];

export const openTransport = (): Transport => createLeanTransport({ endpoint: endpoint ?? "", requestTimeout: 30_000 });

let count = 0;

/** A table name that no other test of this run uses. */
export const freshTableName = (label: string): string => `${label}-${process.pid}-${Date.now().toString(36)}-${++count}`;

interface Page<Row> {
  readonly items: readonly Row[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
}

/** All rows of a call by pages of one size, forth to the end, and back from there to the beginning. */
export const forthAndBack = async <Row>(
  pageOf: (options: { readonly limit: number; readonly cursor?: string }) => PromiseLike<Page<Row>>,
  limit: number,
): Promise<{ readonly forth: readonly Row[]; readonly back: readonly Row[] }> => {
  let page = await pageOf({ limit });
  const forth = [...page.items];
  while (page.next !== undefined) {
    const next = await pageOf({ limit, cursor: page.next });
    // One partition that is read to its very end does not know yet that it is the end.
    if (next.items.length === 0) break;
    page = next;
    forth.push(...page.items);
  }
  const back = [...page.items];
  while (page.previous !== undefined) {
    page = await pageOf({ limit, cursor: page.previous });
    back.unshift(...page.items);
  }
  return { forth, back };
};
