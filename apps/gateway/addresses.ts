/** Default listen address. */
export const DEFAULT_PORT = 8080;
export const DEFAULT_HOST = "127.0.0.1";

/** Whether a host is loopback. Names other than localhost may resolve to anything, so they are not. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare) || /^::ffff:127\./i.test(bare);
}

/** The URL by which this machine reaches a gateway that listens on the given host and port. */
export function localUrl(host = DEFAULT_HOST, port = DEFAULT_PORT): string {
  const bare = host.replace(/^\[|\]$/g, "");
  const address = bare === "0.0.0.0" ? "127.0.0.1" : bare === "::" ? "::1" : bare;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** Host and port for comparison; all loopback names are equal. */
export function addressKey(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, hostname, port } = new URL(url);
  const host = isLoopbackHost(hostname) || hostname === "0.0.0.0" || hostname === "[::]" ? "loopback" : hostname;
  return `${host}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}
