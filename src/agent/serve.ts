import { AgentError, type Interface } from "../envelope/index.js";
import { assertMayBind, createHostCheck } from "../security/index.js";
import { isLoopbackAddress } from "../transport/loopback.js";
import { listen, type TlsOptions } from "../transport/node/index.js";
import type { Agent } from "./agent.js";
import { assemble, type HostOptions } from "./assemble.js";

export interface ServeOptions extends HostOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. Another address needs `admission`, or `openToEverybody`. */
  readonly host?: string;
  /** Certificate and key, in PEM. Then every protocol on the port is under TLS. */
  readonly tls?: TlsOptions;
  /** Said in words: whoever reaches this address may use the agent. */
  readonly openToEverybody?: boolean;
  /** Further names this server is reached by, `name` or `name:port`. */
  readonly names?: readonly string[];
  /** Origins whose web pages may call it. Default: none. */
  readonly allowedOrigins?: readonly string[];
}

export interface Server {
  readonly url: string;
  readonly port: number;
  /** Where one agent answers, the best first. */
  interfaces(agent: string): readonly Interface[];
  /** Takes another certificate into use: for new connections, without dropping any. Throws for a pair that is no good. */
  reload(tls: TlsOptions): void;
  /** Accepts nothing new, lets calls under way end, then stops what is left. */
  close(): Promise<void>;
}

/** Serves one agent or several on one port, in every protocol at once. */
export async function serve(agents: Agent | readonly Agent[], options: ServeOptions = {}): Promise<Server> {
  const host = options.host ?? "127.0.0.1";
  assertMayBind({ host, admission: options.admission, open: options.openToEverybody, audit: options.audit });
  checkClientCa(options);
  const list: readonly Agent[] = Array.isArray(agents) ? agents : [agents as Agent];
  // Behind a loopback port every caller is a neighbour on this machine, so their links may lead back to it.
  const assembled = assemble(
    list,
    { push: true, ...options },
    isLoopbackAddress(host) || host === "localhost" ? "loopback" : "public",
    true,
  );
  const { limits } = assembled;
  const { port = 0, tls, onError } = options;
  const listening = await listen(assembled.exchange, { port, host, limits, tls, onError });
  if (assembled.url === "") assembled.url = listening.url;
  const { names, publicUrl, allowedOrigins } = options;
  assembled.checkHost = createHostCheck({ port: listening.port, boundHost: host, names, publicUrl, allowedOrigins });
  return {
    url: options.publicUrl ?? listening.url,
    port: listening.port,
    interfaces: (agent) => assembled.interfaces(agent),
    reload: (renewed) => listening.reload(renewed),
    async close() {
      await Promise.all([listening.close(), assembled.close(limits.drainMs)]);
    },
  };
}

/** Whoever names an authority for callers expects that others stay outside, and TLS alone only does so when told to. */
function checkClientCa({ tls, admission, openToEverybody }: ServeOptions): void {
  if (tls?.clientCa === undefined || tls.clientCertificate === "require" || openToEverybody === true) return;
  if (admission !== undefined && admission.open !== true) return;
  throw new AgentError(
    "invalid_message",
    "tls.clientCa says who vouches for callers, and nobody asks them for a certificate: give clientCertificates() as admission, " +
      'or tls.clientCertificate "require", or state that the agent is open to everybody',
    { field: "tls.clientCa" },
  );
}
