import { connect as connectTcp, isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import { connect as connectTls, createSecureContext } from "node:tls";
import type { Dialer } from "./connection.ts";
import type { Endpoint } from "./endpoint.ts";

// What one read takes from the kernel at most: several packets of a long page, and little enough for 64 sockets.
const packetBytes = 65_536;

// After so long without traffic the kernel asks whether the other side is still there.
const probeAfter = 30_000;

const commonOptions = (
  endpoint: Endpoint,
): { host: string; port: number; noDelay: true; keepAlive: true; keepAliveInitialDelay: number } => ({
  host: endpoint.hostname,
  port: endpoint.port,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: probeAfter,
});

const plainDialer = (endpoint: Endpoint): Dialer => ({
  readyEvent: "connect",
  dial: (callback) => connectTcp({ ...commonOptions(endpoint), onread: { buffer: Buffer.allocUnsafeSlow(packetBytes), callback } }),
});

const secureDialer = (endpoint: Endpoint, ca: string | undefined): Dialer => {
  // Made once: reading the root certificates costs milliseconds. A session spares later sockets the full handshake.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });
  let session: Buffer | undefined;
  return {
    readyEvent: "secureConnect",
    dial(callback) {
      const onread = { buffer: Buffer.allocUnsafeSlow(packetBytes), callback };
      const options: ConnectionOptions & { onread: typeof onread } = {
        ...commonOptions(endpoint),
        secureContext,
        ALPNProtocols: ["http/1.1"],
        rejectUnauthorized: true,
        onread,
      };
      if (isIP(endpoint.hostname) === 0) options.servername = endpoint.hostname;
      if (session !== undefined) options.session = session;
      const socket = connectTls(options);
      socket.on("session", (fresh) => (session = fresh));
      socket.on("error", () => (session = undefined));
      return socket;
    },
  };
};

/** Opens sockets to an endpoint; over TLS the certificate is always verified. */
export const createDialer = (endpoint: Endpoint, ca?: string): Dialer =>
  endpoint.tls ? secureDialer(endpoint, ca) : plainDialer(endpoint);
