import type { ReactNode } from "react";
import type { Marks } from "./changes.ts";
import { counted } from "./item-parts.tsx";

/** Says how much has changed since the view was opened, and switches the watch. */
export const MarkSwitch = ({
  marks: { changes, isOn, problem, toggle },
  again,
}: {
  readonly marks: Marks;
  readonly again: () => void;
}): ReactNode => {
  const count = new Set(changes.map(({ item }) => JSON.stringify(item.keys))).size;
  return (
    <p className="marks">
      <button
        type="button"
        className="quiet"
        aria-pressed={isOn && !problem}
        disabled={problem !== undefined}
        title={problem?.message ?? (isOn ? "Changes are marked as they happen" : "Marks changes as they happen: reads the table’s stream")}
        onClick={toggle}
      >
        <span className="dot" aria-hidden="true" /> Live
      </button>
      <span role="status">
        {count === 0 ? null : (
          <>
            {counted(count, "item")} changed{" "}
            <button type="button" className="quiet" onClick={again}>
              Read again
            </button>
          </>
        )}
      </span>
    </p>
  );
};
