import { AgentError, type Envelope, type Interface, type Maybe, type ReplayGuard, systemIds } from "../envelope/index.js";
import { Replies } from "../protocols/index.js";
import { assertMayBind, createHostCheck } from "../security/index.js";
import { createReplayGuard } from "../security/replay/index.js";
import { createMemoryStore, DEFAULT_TASK_LIMITS, type Store } from "../tasks/index.js";
import type { Intake, RequestHead } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { isLoopbackAddress } from "../transport/loopback.js";
import { type Listening, listen, type TlsOptions } from "../transport/node/index.js";
import { Admin, type AdminAddress, type AdminOptions, type AdminParts } from "./admin.js";
import type { Agent } from "./agent.js";
import { type Assembled, assemble, type HostOptions } from "./assemble.js";
import { CallerReach } from "./caller-reach.js";
import { RetiringHosts } from "./retire.js";

/** Options of `serve`. */
export interface ServeOptions extends HostOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. Another address needs `admission`, or `openToEverybody`. */
  readonly host?: string;
  /** Certificate and key, in PEM: every protocol on the port then uses TLS. */
  readonly tls?: TlsOptions;
  /** Explicitly allows anonymous callers on a non-loopback address. */
  readonly openToEverybody?: boolean;
  /** Additional host names of this server, `name` or `name:port`. */
  readonly names?: readonly string[];
  /** The operator's listener, with a port and a token of its own. Default: none. */
  readonly admin?: AdminOptions;
  /** Web origins that may call it. Default: none. */
  readonly allowedOrigins?: readonly string[];
}

/** A running server. */
export interface Server {
  /** The base URL. */
  readonly url: string;
  /** The port in use. */
  readonly port: number;
  /** The operator's listener, if there is one. */
  readonly admin: Maybe<AdminAddress>;
  /** The interfaces of one agent, the preferred one first. */
  interfaces(agent: string): readonly Interface[];
  /**
   * Replaces the agents and their options. Active calls and streams continue on the previous ones, for ten minutes at most;
   * both share the task store. Options of the port cannot change. Throws before anything is replaced; the promise resolves when the last
   * call to a replaced agent has ended.
   */
  replace(agents: Agent | readonly Agent[], options?: ReplaceOptions): Promise<void>;
  /**
   * Sends a message to a caller, known by `task.owner`, that has an open session. Throws `unavailable` if it has none.
   */
  say(owner: string, envelope: Envelope): Promise<void>;
  /**
   * Answers that peers send as messages of their own. Given to `connect` as `replies`, with the identity of this server, they reach the calls
   * and `receive()` of that connection; others reach the agent.
   */
  readonly replies: Replies;
  /** Replaces the certificate for new connections, without dropping any. Throws for an invalid pair. */
  reload(tls: TlsOptions): void;
  /** The same for the operator's listener. */
  reloadAdmin(tls: TlsOptions): void;
  /** Stops accepting calls, waits for active ones within the drain limit, then stops the rest. */
  close(): Promise<void>;
}

/** What can change while the port stays open. */
export type ReplaceOptions = Omit<HostOptions, "store" | "publicUrl" | "trustedProxies">;

/** Serves one agent or several on one port, in every protocol at once. */
export async function serve(agents: Agent | readonly Agent[], options: ServeOptions = {}): Promise<Server> {
  const host = options.host ?? "127.0.0.1";
  const { admission, audit, openToEverybody: open, publicUrl, names, allowedOrigins, trustedProxies } = options;
  assertMayBind({ host, admission, open, audit, publicUrl, proxied: trustedProxies !== undefined });
  checkClientCa(options);
  const list = listOf(agents);
  const store = options.store ?? createMemoryStore({ limits: { ...DEFAULT_TASK_LIMITS, ...options.taskLimits }, now: Date.now });
  // Kept when agents are replaced: a new guard would refuse what was signed before it.
  const replay = options.replay ?? replayGuardOf(store, options);
  const reach = CallerReach.of({ host, publicUrl, names, trustedProxies });
  const admin =
    options.admin &&
    new Admin(
      options.admin,
      adminParts(options, () => current.details()),
    );
  const replies = new Replies();
  const assembleFor = (served: readonly Agent[], more: ReplaceOptions): Assembled => {
    const routes = [...(more.routes ?? options.routes ?? []), ...(admin?.routesForCallers ?? [])];
    const hosting = { push: true, ...options, replay, ...more, routes, store };
    return assemble(served, hosting, { reach, http2: true, sessions: true, ownPort: true, replies });
  };
  let current = assembleFor(list, {});
  const retired = new RetiringHosts();
  const { limits } = current;
  const { port = 0, tls, onError } = options;
  const intake: Intake = {
    take: (request) => current.intake.take(request),
    refuse: (request, reason) => current.intake.refuse(request, reason),
    upgrade: (head) => current.intake.upgrade(head),
  };
  const servesWhileClosing = (head: RequestHead): boolean => current.isHealthCheck(head);
  const handshakes = tls && options.telemetry?.handshakes?.();
  const listening = await listen(intake, {
    port,
    host,
    limits,
    tls,
    trustedProxies,
    onError,
    handshakes,
    servesWhileClosing,
  });
  const ready = (assembled: Assembled): void => {
    if (assembled.url === "") assembled.url = listening.url;
    assembled.checkHost = checkHost;
  };
  const checkHost = createHostCheck({ port: listening.port, boundHost: host, names, publicUrl, allowedOrigins });
  const own = publicUrl === undefined ? [listening.url] : [listening.url, publicUrl];
  ready(current);
  let adminListening: Maybe<Listening>;
  try {
    refuseSelf(list, own);
    adminListening = await admin?.open();
  } catch (thrown) {
    await Promise.all([listening.close(), current.close(0)]);
    throw thrown;
  }
  const adminUrl = options.admin?.publicUrl ?? (adminListening ?? { url: publicUrl ?? listening.url }).url;
  return {
    url: publicUrl ?? listening.url,
    admin: admin && { url: adminUrl, token: admin.token, generated: options.admin?.token === undefined },
    port: listening.port,
    interfaces: (agent) => current.interfaces(agent),
    replace(replacing, more = {}) {
      const others = listOf(replacing);
      refuseSelf(others, own);
      const next = assembleFor(others, more);
      ready(next);
      retired.add(current, limits.drainMs);
      current = next;
      return retired.allClosed();
    },
    replies,
    say: (owner, envelope) => current.say(owner, envelope),
    reload: (renewed) => listening.reload(renewed),
    reloadAdmin: (renewed) => adminListening?.reload(renewed),
    async close() {
      const drained = Promise.all([current.close(limits.drainMs), retired.close()]);
      await Promise.all([listening.close(drained), drained]);
      // Last: until then the operator can see what the server waits for.
      await adminListening?.close();
    },
  };
}

function replayGuardOf(store: Store, { limits: given, ids = systemIds }: ServeOptions): ReplayGuard {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const now = (): number => ids.now();
  return store.replayGuard?.(limits, now) ?? createReplayGuard({ limits, now });
}

function adminParts(options: ServeOptions, details: AdminParts["details"]): AdminParts {
  const { telemetry, limits, ids = systemIds, onError, audit } = options;
  return { telemetry, limits: { ...DEFAULT_LIMITS, ...limits }, ids, onError, audit, details };
}

function listOf(agents: Agent | readonly Agent[]): readonly Agent[] {
  return Array.isArray(agents) ? agents : [agents as Agent];
}

/** A bridged agent must not be served at its upstream address: the host would call itself.  */
function refuseSelf(agents: readonly Agent[], own: readonly string[]): void {
  const ours = new Set(own.map(authorityOf));
  for (const { name, upstreamUrls = [] } of agents) {
    const self = upstreamUrls.find((url) => ours.has(authorityOf(url)));
    if (self !== undefined)
      throw new AgentError("loop", `agent ${name} has the upstream ${self}, which is this server itself`, { field: "url" });
  }
}

/** Host and port; all loopback names are one. */
function authorityOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, hostname, port } = new URL(url);
  const host = hostname === "localhost" || isLoopbackAddress(hostname.replace(/^\[|\]$/g, "")) ? "loopback" : hostname;
  return `${host}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}

/** A client CA without a check of client certificates would admit everyone: reject it at start. */
function checkClientCa({ tls, admission, openToEverybody }: ServeOptions): void {
  if (tls?.clientCa === undefined || tls.clientCertificate === "require" || openToEverybody === true) return;
  if (admission !== undefined && admission.open !== true) return;
  throw new AgentError(
    "invalid_message",
    "tls.clientCa is set, but client certificates are not checked: set admission to clientCertificates(), " +
      'or tls.clientCertificate to "require", or openToEverybody to true',
    { field: "tls.clientCa" },
  );
}
