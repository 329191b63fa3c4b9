import { expect, test } from "vitest";
import { isoDate } from "./iso-date.ts";

test.each([
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["2024-05-06T07:08:09Z", "2024-05-06T07:08:09.000Z"],
  ["2024-05-06T23:00:00-05:00", "2024-05-07T04:00:00.000Z"],
])("%s is a date", (text, date) => {
  expect(isoDate(text)?.toISOString()).toBe(date);
});

test.each(["", "6", "sometime", "2024", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-05-06T25:00", "06/05/2024"])(
  "%j is none",
  (text) => {
    expect(isoDate(text)).toBeUndefined();
  },
);
