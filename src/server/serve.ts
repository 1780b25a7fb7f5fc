import { AgentError, type Interface } from "../envelope/index.js";
import { assertMayBind, createHostCheck } from "../security/index.js";
import { createMemoryStore, DEFAULT_TASK_LIMITS } from "../tasks/index.js";
import { isLoopbackAddress } from "../transport/loopback.js";
import { listen, type TlsOptions } from "../transport/node/index.js";
import type { Agent } from "./agent.js";
import { type Assembled, assemble, type HostOptions } from "./assemble.js";
import { RetiringHosts } from "./retire.js";

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
  /**
   * Other agents, and other options for them, from now on. Calls and streams under way go on with those that were there, for
   * ten minutes at most; tasks are in the store, which both share. What the port itself is cannot change.
   */
  replace(agents: Agent | readonly Agent[], options?: ReplaceOptions): void;
  /** Takes another certificate into use: for new connections, without dropping any. Throws for a pair that is no good. */
  reload(tls: TlsOptions): void;
  /** Accepts nothing new, lets calls under way end, then stops what is left. */
  close(): Promise<void>;
}

/** What can change while the port stays open. */
export type ReplaceOptions = Omit<HostOptions, "store" | "publicUrl">;

/** Serves one agent or several on one port, in every protocol at once. */
export async function serve(agents: Agent | readonly Agent[], options: ServeOptions = {}): Promise<Server> {
  const host = options.host ?? "127.0.0.1";
  assertMayBind({ host, admission: options.admission, open: options.openToEverybody, audit: options.audit });
  checkClientCa(options);
  const list = listOf(agents);
  const store = options.store ?? createMemoryStore({ limits: { ...DEFAULT_TASK_LIMITS, ...options.taskLimits }, now: Date.now });
  // Behind a loopback port every caller is a neighbour on this machine, so their links may lead back to it.
  const reach = isLoopbackAddress(host) || host === "localhost" ? "loopback" : "public";
  const assembleFor = (served: readonly Agent[], more: ReplaceOptions): Assembled =>
    assemble(served, { push: true, ...options, ...more, store }, reach, true);
  let current = assembleFor(list, {});
  const retired = new RetiringHosts();
  const { limits } = current;
  const { port = 0, tls, onError } = options;
  const listening = await listen((request) => current.exchange(request), { port, host, limits, tls, onError });
  const ready = (assembled: Assembled): void => {
    if (assembled.url === "") assembled.url = listening.url;
    assembled.checkHost = checkHost;
  };
  const { names, publicUrl, allowedOrigins } = options;
  const checkHost = createHostCheck({ port: listening.port, boundHost: host, names, publicUrl, allowedOrigins });
  const own = publicUrl === undefined ? [listening.url] : [listening.url, publicUrl];
  ready(current);
  try {
    refuseSelf(list, own);
  } catch (thrown) {
    await Promise.all([listening.close(), current.close(0)]);
    throw thrown;
  }
  return {
    url: options.publicUrl ?? listening.url,
    port: listening.port,
    interfaces: (agent) => current.interfaces(agent),
    replace(replacing, more = {}) {
      const others = listOf(replacing);
      refuseSelf(others, own);
      const next = assembleFor(others, more);
      ready(next);
      retired.add(current, limits.drainMs);
      current = next;
    },
    reload: (renewed) => listening.reload(renewed),
    async close() {
      await Promise.all([listening.close(), current.close(limits.drainMs), retired.close(limits.drainMs)]);
    },
  };
}

function listOf(agents: Agent | readonly Agent[]): readonly Agent[] {
  return Array.isArray(agents) ? agents : [agents as Agent];
}

/** An agent that stands for an address must not stand at it: the host would call itself for ever. */
function refuseSelf(agents: readonly Agent[], own: readonly string[]): void {
  const ours = new Set(own.map(placeOf));
  for (const { name, behind = [] } of agents) {
    const self = behind.find((url) => ours.has(placeOf(url)));
    if (self !== undefined)
      throw new AgentError("loop", `the agent ${name} stands for ${self}, which is this very server`, { field: "url" });
  }
}

/** Host and port; all names of this machine's own loopback are one. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, hostname, port } = new URL(url);
  const host = hostname === "localhost" || isLoopbackAddress(hostname.replace(/^\[|\]$/g, "")) ? "loopback" : hostname;
  return `${host}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
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
