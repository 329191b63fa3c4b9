import type { Transport } from "./transport.ts";

/**
 * A transport whose code is loaded from now on, beside whatever else the program does at its start: only a
 * request that comes before waits for it. Where it cannot be loaded, that request says so, and the next tries again.
 */
export const deferTransport = (load: () => Promise<Transport>): Transport => {
  let opened: Transport | undefined;
  let opening: Promise<Transport> | undefined;
  const open = (): Promise<Transport> => {
    if (opening) return opening;
    opening = load();
    opening.then(
      (transport) => (opened = transport),
      () => (opening = undefined),
    );
    return opening;
  };
  void open();
  return {
    send: (operation, input, options) =>
      opened ? opened.send(operation, input, options) : open().then((transport) => transport.send(operation, input, options)),
    close: async () => (opened ?? (await open())).close(),
  };
};
