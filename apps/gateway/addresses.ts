/** Where a gateway listens that was not told otherwise. */
export const DEFAULT_PORT = 8080;
export const DEFAULT_HOST = "127.0.0.1";

/** Whether only this machine can reach it. A name other than localhost may resolve to anything, so it does not count. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare) || /^::ffff:127\./i.test(bare);
}

/** Where this machine itself reaches a gateway that listens there. */
export function homeOf(host = DEFAULT_HOST, port = DEFAULT_PORT): string {
  const bare = host.replace(/^\[|\]$/g, "");
  const reached = bare === "0.0.0.0" ? "127.0.0.1" : bare === "::" ? "::1" : bare;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

/** Host and port; all names of this machine's own loopback are one. */
export function addressText(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, hostname, port } = new URL(url);
  const host = isLoopbackHost(hostname) || hostname === "0.0.0.0" || hostname === "[::]" ? "loopback" : hostname;
  return `${host}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}
