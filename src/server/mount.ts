import { AgentError } from "../envelope/index.js";
import { createOriginCheck } from "../security/index.js";
import type { Exchange } from "../transport/exchange.js";
import { fetchHandler } from "../transport/fetch-handler.js";
import { requestListener, type UpgradeListener, upgradeListener } from "../transport/node/index.js";
import type { Agent } from "./agent.js";
import { assemble, type HostOptions } from "./assemble.js";
import { CallerReach } from "./caller-reach.js";

/** Options of `mount`. */
export interface MountOptions extends HostOptions {
  /** The mount point in the other app: `/agents`. Cards then need `publicUrl`, which includes it. */
  readonly basePath?: string;
  /** The other app passes the `upgrade` events of its server on: cards then offer sessions. Default: false. */
  readonly sessions?: boolean;
  /** Web origins whose pages may open sessions, beside the app's own. */
  readonly allowedOrigins?: readonly string[];
}

/** A host without a port of its own, to be mounted in another app. That app checks `Host` and `Origin`. */
export interface Mounted {
  /** The routes as one exchange, for other servers. */
  readonly exchange: Exchange;
  /** For Hono, Next, Workers and other servers with WHATWG fetch. */
  fetch(request: Request): Promise<Response>;
  /**
   * For Express, Fastify and bare `node:http`. Mount it before any body parser. As Express middleware it passes paths that no
   * route here matches on to `next`; without `next` it answers them with 404.
   */
  readonly listener: ReturnType<typeof requestListener>;
  /**
   * For `server.on("upgrade", …)` of the other app, with the option `sessions`. False if the request opens no session here: the socket is then
   * untouched. The origin of web pages is checked here.
   */
  upgrade(...event: Parameters<UpgradeListener>): boolean;
  /** Stops running tasks and closes connections. */
  close(): Promise<void>;
}

/** Mounts one agent or several in another web application. */
export function mount(agents: Agent | readonly Agent[], options: MountOptions = {}): Mounted {
  const list: readonly Agent[] = Array.isArray(agents) ? agents : [agents as Agent];
  const traits = { reach: new CallerReach("public"), http2: false, sessions: options.sessions ?? false, ownPort: false } as const;
  const assembled = assemble(list, options, traits);
  assembled.checkUpgrade = createOriginCheck(options);
  const { exchange, intake, claims, limits, close } = assembled;
  const { basePath, trustedProxies } = options;
  if (trustedProxies?.by === "proxy-protocol")
    throw new AgentError("invalid_message", "PROXY protocol precedes HTTP: it is read by the server that has the port", {
      field: "trustedProxies.by",
    });
  const upgrades = upgradeListener(intake, { limits, basePath, claims, trustedProxies });
  return {
    exchange,
    fetch: fetchHandler(intake, { limits, basePath }),
    listener: requestListener(intake, { limits, basePath, claims, trustedProxies }),
    upgrade: (...event) => traits.sessions && upgrades(...event),
    async close() {
      await Promise.all([upgrades.close(), close(limits.drainMs)]);
    },
  };
}
