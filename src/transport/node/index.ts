/** The transports that need Node: a port, a pool, a mount. */
export { type Listening, type ListenOptions, listen } from "./listen.js";
export { type PoolOptions, poolLink } from "./pool.js";
export { type RequestListenerOptions, requestListener } from "./request-listener.js";
export type { TlsOptions } from "./tls.js";
