import { AgentError, floorRefusal, type Maybe } from "../envelope/index.js";
import type { PolicySink } from "../policies/index.js";
import { DialledExposure, type Exposure, guardedDial, isWithin, literalExposure, resolveByDns } from "../security/index.js";
import { isTlsAddress } from "../transport/address-parts.js";
import type { HttpRequest, Link } from "../transport/exchange.js";
import type { Limits } from "../transport/limits.js";
import { changeRequests, openSession } from "../transport/links.js";
import { type PoolOptions, poolLink } from "../transport/node/index.js";
import { changeRequest, httpAddress } from "../transport/request.js";
import { clearTextLimit } from "./clear-text.js";
import { type Credentials, isAtOrigin } from "./credentials.js";

/** Limits of the connections to a peer. */
export interface ConnectionLimits {
  /** Concurrent requests to the peer; an open stream is one. Over HTTP/1.1 each has a connection. Default: 4,096. */
  readonly connections?: Maybe<number>;
  /** Requests that may wait for a connection; more fail with `overloaded`. Default: 10,000. */
  readonly connectionQueue?: Maybe<number>;
}

type PoolLimits = Pick<PoolOptions, "connections" | "waiting" | "onWaiting">;

interface NotedLimits extends ConnectionLimits {
  readonly notes?: Maybe<PolicySink>;
  readonly id?: Maybe<string>;
}

/** Requests that wait for a connection are the depth of a queue. */
export function poolLimits({ connections, connectionQueue, notes, id }: NotedLimits): PoolLimits {
  const onWaiting = (depth: number): void =>
    notes?.({ kind: "queue", queue: "connections", depth, destination: id ?? "other", protocol: undefined, traceId: undefined });
  return { connections, waiting: connectionQueue, onWaiting };
}

/**
 * Pooled connections to a peer. The configured address is dialled directly, with the client certificate. Every other address
 * comes from a document of the peer: it passes the outbound guard and is never shown the client certificate. A call that must be
 * encrypted is checked here against the final address, which nothing changes afterwards.
 */
export function peerLink(url: string, limits: Limits, tls: Credentials["tls"], connections: PoolLimits = {}): Link {
  const dialled = isTlsAddress(url) ? undefined : new DialledExposure(resolveByDns);
  const own = poolLink({ ...connections, limits, tls, lookup: dialled?.lookup });
  const ca = tls?.ca;
  const others = poolLink({ limits, tls: ca === undefined ? undefined : { ca }, ...guardedDial(url, resolveByDns) });
  const linkFor = ({ target }: HttpRequest): Link => (isAtOrigin(target, url) ? own : others);

  /** Undefined if the request may be sent at once; rejects if it must be encrypted and the address has no TLS. */
  function checkEncryption({ call, target }: HttpRequest): Maybe<Promise<void>> {
    const limit = call && clearTextLimit(call);
    if (limit === undefined || limit === "public" || isTlsAddress(target)) return undefined;
    return checkClearText(target, limit);
  }

  async function checkClearText(target: string, limit: Exposure): Promise<void> {
    const host = hostOf(target);
    const isOwn = isAtOrigin(target, url);
    const exposure = (isOwn ? await dialled?.of(host) : literalExposure(host)) ?? "public";
    // An address that the peer named is not one that the operator chose.
    if (!isWithin(exposure, isOwn ? limit : "loopback"))
      throw floorRefusal("encrypted", `an unencrypted connection to ${host} does not provide`);
  }

  return {
    exchange(request) {
      const checking = checkEncryption(request);
      const link = linkFor(request);
      return checking === undefined ? link.exchange(request) : checking.then(() => link.exchange(request));
    },
    async open(request, subprotocols) {
      await checkEncryption(request);
      return openSession(linkFor(request), request, subprotocols);
    },
    async close() {
      await Promise.all([own.close(), others.close()]);
    },
  };
}

function hostOf(target: string): string {
  const address = httpAddress(target);
  if (!URL.canParse(address)) throw new AgentError("invalid_message", `${JSON.stringify(target)} is not a URL`, { sent: "no" });
  return new URL(address).hostname;
}

/** Maps an address that the peer names to the address that is dialled. */
export type RewriteAddress = (target: string) => string;

/** Outside all other links: credentials go to the peer's own origin only, and telemetry shows the address that is dialled. */
export function rewriting(link: Link, rewrite: Maybe<RewriteAddress>): Link {
  if (rewrite === undefined) return link;
  return changeRequests(link, (request) => {
    const url = rewrite(request.target);
    return url === request.target ? request : changeRequest(request, { url });
  });
}
