/**
 * True if a host name or address is this machine's own.
 *
 * @param hostname from a URL or a socket, whose IPv4 addresses are always in full form
 */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "::1" || /^127(?:\.\d+){3}$/.test(hostname);
