/** Headers a proxy adds. Anybody may add one, and by that only loses what loopback would have given. */
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

/** True for 127.0.0.0/8, ::1, and the first written inside IPv6, as a socket spells them. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  if (address === "127.0.0.1" || address === "::1") return true;
  const v4 = address.startsWith("::ffff:") ? address.slice(7) : address;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(v4);
}

/** True if somebody says the request came through a proxy: then the socket's address is not the caller's. */
export function wasForwarded(headers: { readonly [name: string]: unknown }): boolean {
  for (const name of FORWARDING_HEADERS) if (headers[name] !== undefined) return true;
  return false;
}
