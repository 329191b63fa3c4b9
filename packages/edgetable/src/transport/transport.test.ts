import { expect, test } from "vitest";
import { deferTransport, type Transport } from "./transport.ts";

const input = { TableName: "Test", Key: {} };

/** A transport that says what it was told. */
const recorder = (): Transport & { readonly told: string[] } => {
  const told: string[] = [];
  const send = (operation: string): Promise<object> => Promise.resolve(told.push(operation)).then(() => ({}));
  return { told, send: send as Transport["send"], close: () => void told.push("close") };
};

test("it is loaded once, at once, and what came before goes out in its order", async () => {
  const inner = recorder();
  let loads = 0;
  const transport = deferTransport(async () => {
    loads++;
    return inner;
  });
  expect(loads).toBe(1);
  const sent = [transport.send("GetItem", input), transport.send("DeleteItem", input), transport.close()];
  expect(inner.told).toEqual([]);
  await Promise.all(sent);
  expect(inner.told).toEqual(["GetItem", "DeleteItem", "close"]);
  await transport.send("GetItem", input);
  expect(loads).toBe(1);
});

test("what fails to load is told to the request that needs it, and tried again by the next", async () => {
  const inner = recorder();
  const faults = [new Error("first"), new Error("second")];
  const transport = deferTransport(async () => {
    const fault = faults.shift();
    if (fault) throw fault;
    return inner;
  });
  // The one that nobody asked for is no unhandled rejection.
  await new Promise((resolve) => setTimeout(resolve, 5));
  await expect(transport.send("GetItem", input)).rejects.toThrow("second");
  await transport.send("GetItem", input);
  expect(inner.told).toEqual(["GetItem"]);
});
