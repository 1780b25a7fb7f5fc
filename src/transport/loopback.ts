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

/**
 * True if a proxy forwarded the request: the socket's address is then not the caller's. A caller that adds such a header itself only loses
 * loopback treatment. Each header is read by its name, because this runs for every request: in a loop it takes many times longer.
 */
export function wasForwarded(headers: { readonly [name: string]: unknown }): boolean {
  return (
    headers["forwarded"] !== undefined ||
    headers["x-forwarded-for"] !== undefined ||
    headers["x-forwarded-host"] !== undefined ||
    headers["x-forwarded-proto"] !== undefined ||
    headers["x-real-ip"] !== undefined ||
    headers["x-client-ip"] !== undefined ||
    headers["true-client-ip"] !== undefined ||
    headers["cf-connecting-ip"] !== undefined ||
    headers["via"] !== undefined
  );
}
