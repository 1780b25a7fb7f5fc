import type { Exchange } from "../transport/exchange.js";
import { fetchHandler } from "../transport/fetch-handler.js";
import { requestListener } from "../transport/node/index.js";
import type { Agent } from "./agent.js";
import { assemble, type HostOptions } from "./assemble.js";

export interface MountOptions extends HostOptions {
  /** Where in the other app we are mounted: `/agents`. Cards then need `publicUrl`, which includes it. */
  readonly basePath?: string;
}

/** The same host without a port of its own, for another app to call. That app checks `Host` and `Origin`. */
export interface Mounted {
  readonly exchange: Exchange;
  /** For Hono, Next, Workers and whatever else speaks WHATWG fetch. */
  fetch(request: Request): Promise<Response>;
  /** For Express, Fastify and bare `node:http`. Mount it before any body parser. */
  readonly listener: ReturnType<typeof requestListener>;
  close(): Promise<void>;
}

export function mount(agents: Agent | readonly Agent[], options: MountOptions = {}): Mounted {
  const list: readonly Agent[] = Array.isArray(agents) ? agents : [agents as Agent];
  const { exchange, limits, close } = assemble(list, options);
  const { basePath } = options;
  return {
    exchange,
    fetch: fetchHandler(exchange, { limits, basePath }),
    listener: requestListener(exchange, { limits, basePath }),
    close: () => close(limits.drainMs),
  };
}
