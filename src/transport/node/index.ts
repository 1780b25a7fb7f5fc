/** Transports that need Node: listening on a port, pooled connections, mounting in a server. */
export { type Listening, type ListenOptions, listen } from "./listen.js";
export { type PoolOptions, poolLink } from "./pool.js";
export { type RequestListenerOptions, requestListener } from "./request-listener.js";
export type { TlsOptions } from "./tls.js";
export type { TrustedProxies } from "./trusted-proxies.js";
export { type UpgradeListener, upgradeListener } from "./upgrade-listener.js";
