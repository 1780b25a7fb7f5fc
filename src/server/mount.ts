import type { Exchange } from "../transport/exchange.js";
import { fetchHandler } from "../transport/fetch-handler.js";
import { requestListener } from "../transport/node/index.js";
import type { Agent } from "./agent.js";
import { assemble, type HostOptions } from "./assemble.js";

/** Options of `mount`. */
export interface MountOptions extends HostOptions {
  /** The mount point in the other app: `/agents`. Cards then need `publicUrl`, which includes it. */
  readonly basePath?: string;
}

/** A host without a port of its own, to be mounted in another app. That app checks `Host` and `Origin`. */
export interface Mounted {
  readonly exchange: Exchange;
  /** For Hono, Next, Workers and other servers with WHATWG fetch. */
  fetch(request: Request): Promise<Response>;
  /**
   * For Express, Fastify and bare `node:http`. Mount it before any body parser. As Express middleware it passes paths that no
   * route here matches on to `next`; without `next` it answers them with 404.
   */
  readonly listener: ReturnType<typeof requestListener>;
  close(): Promise<void>;
}

/** Mounts one agent or several in another web application. */
export function mount(agents: Agent | readonly Agent[], options: MountOptions = {}): Mounted {
  const list: readonly Agent[] = Array.isArray(agents) ? agents : [agents as Agent];
  const { exchange, claims, limits, close } = assemble(list, options);
  const { basePath } = options;
  return {
    exchange,
    fetch: fetchHandler(exchange, { limits, basePath }),
    listener: requestListener(exchange, { limits, basePath, claims }),
    close: () => close(limits.drainMs),
  };
}
