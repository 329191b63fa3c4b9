import { expect, test } from "vitest";
import { inFlags } from "./in-flags.ts";

test("options of a call are named as the command line names them", () => {
  expect(inFlags("Run it again with finish: the last passes.")).toBe("Run it again with --finish: the last passes.");
  expect(inFlags("Index it otherwise, or pass inPlace if no program reads it, or pass leaveOut to leave them out.")).toBe(
    "Index it otherwise, or pass --in-place if no program reads it, or pass --leave-out to leave them out.",
  );
  expect(inFlags("Run with again and finish once it has ended.")).toBe("Run with --again --finish once it has ended.");
  expect(inFlags("Finish a migration with that model, then try again.")).toBe("Finish a migration with that model, then try again.");
});
