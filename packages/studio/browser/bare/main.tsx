// The least that a grid over TanStack Virtual does: what the studio's table is compared with.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, type ReactNode } from "react";
import { createRoot } from "react-dom/client";

const CELLS = ["STUDENT#S001", "enrolledIn#COURSE#C101", "178 B", "2026-01-01", "B"];

const Bare = (): ReactNode => {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: 100_000, getScrollElement: () => scroller.current, estimateSize: () => 46, overscan: 12 });
  return (
    <div ref={scroller} role="grid" style={{ height: 750, width: 1220, overflow: "auto" }}>
      <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            className="cells"
            style={{ position: "absolute", height: 46, width: "100%", display: "flex", transform: `translateY(${start}px)` }}
          >
            {CELLS.map((text, at) => (
              <div key={at} style={{ width: 200, overflow: "hidden" }}>
                {text} {index}
              </div>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
};

const root = document.querySelector("#root");
if (root) createRoot(root).render(<Bare />);
