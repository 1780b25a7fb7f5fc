import { AgentError, type Maybe } from "../../../envelope/index.js";
import { literalExposure } from "../../../security/exposure.js";
import { isTlsAddress } from "../../../transport/address-parts.js";
import { httpAddress } from "../../../transport/request.js";
import type { ClientContext } from "../../protocol.js";
import { parseDidAll } from "../legacy-session/did-all.js";
import { readSettings } from "../settings.js";
import { type Binding, LEGACY, PLAIN, PROTOCOL } from "../wire.js";

/**
 * Who was called by a DID is known to prove it. An interface that cannot, or that sends everybody on the way what is said, is refused:
 * somebody may have put it in place of a better one. Undefined: the interface may be used.
 */
export function downgradeRefusal(context: ClientContext): Maybe<() => AgentError> {
  const did = readSettings(context.settings(PROTOCOL)).peer ?? context.calledDid;
  const why = did === undefined ? undefined : weakness(context, did);
  if (why === undefined) return undefined;
  return () =>
    new AgentError("downgrade_refused", `${did} was called, and ${context.peer.url} ${why.text}`, {
      sent: "no",
      detail: { reason: why.reason },
    });
}

interface Weakness {
  readonly reason: "plain_form" | "plain_http" | "legacy_session";
  readonly text: string;
}

function weakness({ peer }: ClientContext, did: string): Maybe<Weakness> {
  const binding = peer.binding as Binding;
  if (peer.version === PLAIN || binding === "PLAIN")
    return { reason: "plain_form", text: "has only the plain form, which proves no DID" };
  if (peer.version === LEGACY)
    return parseDidAll(did) === undefined
      ? { reason: "legacy_session", text: "has only the session of agent-connect 0.3, which proves no such DID" }
      : undefined;
  // The session seals whatever it is sent over.
  if (binding === "WS" || isTlsAddress(peer.url) || isHere(peer.url)) return undefined;
  return { reason: "plain_http", text: "has no TLS" };
}

function isHere(url: string): boolean {
  return literalExposure(new URL(httpAddress(url)).hostname) === "loopback";
}
