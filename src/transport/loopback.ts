/** Headers that proxies add. A caller that adds one itself only loses loopback treatment. */
const FORWARDING_HEADERS = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "via",
] as const;

/** True for 127.0.0.0/8, ::1 and IPv4-mapped loopback addresses, as sockets spell them. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  if (address === "127.0.0.1" || address === "::1") return true;
  const v4 = address.startsWith("::ffff:") ? address.slice(7) : address;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(v4);
}

/** True for loopback addresses, with or without brackets, and `localhost`. Other names may resolve to any address. */
export function isLoopbackHost(host: string | undefined): boolean {
  return host === "localhost" || isLoopbackAddress(host?.startsWith("[") === true ? host.slice(1, -1) : host);
}

/** True if a proxy forwarded the request: the socket's address is then not the caller's. */
export function wasForwarded(headers: { readonly [name: string]: unknown }): boolean {
  for (const name of FORWARDING_HEADERS) if (headers[name] !== undefined) return true;
  return false;
}
