/**
 * Whether a host name or address is this machine's own. It comes from a URL or a socket: those have IPv4 addresses in
 * their one full form, and no name that could be taken for one.
 */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "::1" || /^127(?:\.\d+){3}$/.test(hostname);
