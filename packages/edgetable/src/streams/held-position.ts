/** A page under way. Its position counts when everything of it, and of the pages before it, is done. */
export interface HeldPage {
  /** Everything up to this sequence number is processed, what is late apart. */
  moveTo(sequence: string): void;
  /**
   * Holds the position until what is late is done.
   *
   * @param late gives true if it has to be processed again
   */
  hold(late: Promise<boolean>): void;
  /** Nothing more of the page begins. */
  end(): void;
}

/** The position of a shard, which pages with late work hold back while later pages are processed. */
export interface HeldPosition {
  begin(): HeldPage;
  /** Whether something late is under way. */
  readonly isHeld: boolean;
  /** Whether something late has to be processed again, from the position on. */
  readonly hasFailed: boolean;
  /** Resolves when at most so many pages are held, or something late has failed. */
  settle(pages: number): Promise<void>;
}

/**
 * @param move takes the position: the sequence number behind which nothing is done for sure
 */
export const holdPosition = (move: (sequence: string) => void): HeldPosition => {
  const pages: { sequence: string | undefined; open: number }[] = [];
  let hasFailed = false;
  let tell = (): void => undefined;
  const settled = (): void => {
    const pending = hasFailed ? 0 : pages.findIndex(({ open }) => open > 0);
    for (const { sequence } of pages.splice(0, pending === -1 ? pages.length : pending)) if (sequence !== undefined) move(sequence);
    tell();
  };
  return {
    begin: () => {
      const page = { sequence: undefined as string | undefined, open: 1 };
      let late = 0;
      pages.push(page);
      return {
        moveTo: (sequence) => {
          page.sequence = sequence;
          if (pages[0] === page && late === 0 && !hasFailed) move(sequence);
        },
        hold: (work) => {
          late++;
          page.open++;
          const finish = async (): Promise<void> => {
            if (await work) hasFailed = true;
            page.open--;
            settled();
          };
          void finish();
        },
        end: () => {
          page.open--;
          settled();
        },
      };
    },
    get isHeld() {
      return pages.length > 0;
    },
    get hasFailed() {
      return hasFailed;
    },
    settle: async (most) => {
      for (;;) {
        if (pages.length <= most || hasFailed) return;
        await new Promise<void>((resolve) => (tell = resolve));
      }
    },
  };
};
