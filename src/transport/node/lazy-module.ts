import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Loads a module with its first use, so that `import "koine"` does not pay for it. */
export function lazyModule<T>(name: string): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= require(name) as T;
    return loaded;
  };
}

/** Costs a fifth of an empty start, and clients of HTTP/1.1 never need it. */
export const http2 = lazyModule<typeof import("node:http2")>("node:http2");

/** Loaded with the first server or client that uses TLS: the handshakes of a server, and the checks of certificates. */
export const tls = lazyModule<typeof import("node:tls")>("node:tls");
export const https = lazyModule<typeof import("node:https")>("node:https");

/** Loaded with the first session. */
export const webSocket = lazyModule<typeof import("ws")>("ws");
