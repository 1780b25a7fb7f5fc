import { AgentError, type Call, type Maybe } from "../../envelope/index.js";
import type { ClientContext, DiscoveryContext, Peer, Protocol } from "../protocol.js";
import { agentDid, calledAgent, isThroughGateway } from "./agent-did.js";
import { connectOver } from "./client.js";
import { SageError } from "./errors.js";
import { sageIdentity } from "./identity/signing-key.js";
import { readSettings } from "./settings.js";
import { BINDING, PROTOCOL, VERSION } from "./wire.js";

/**
 * Finds the protocol below at the address, with a card that names the DID, and asks for a signed answer. Without an identity nothing can
 * be signed: then the peer is not asked, and one that was called by its DID is refused.
 */
export const discoverOver =
  (inner: Protocol): Protocol["discover"] =>
  async (context, url, call, search = {}) => {
    const wanted = calledAgent(context);
    checkOneIsCalled(context, wanted);
    if (sageIdentity(context) === undefined) {
      const isPinned = search.pin?.split(/[@/]/, 1)[0] === PROTOCOL;
      if (wanted === undefined && !isPinned) return undefined;
      const peer = wanted ?? `${url} by SAGE`;
      throw new AgentError("unauthenticated", `${peer} takes signed messages: give an identity made by koine sage create`, {
        field: "identity",
        sent: "no",
      });
    }
    const found = await inner.discover(context, url, call, { ...search, known: undefined });
    const peers = (found?.peers ?? [])
      .filter(({ version, binding }) => version === inner.versions[0] && binding === BINDING)
      .map((peer): Peer => ({ ...peer, version: VERSION }));
    const [peer] = peers;
    const did = peer && agentDid(peer.card);
    if (found === undefined || peer === undefined || did === undefined) {
      if (wanted === undefined) return undefined;
      throw new SageError("policy_denied", `${wanted} was called, and the agent at ${url} does not offer SAGE`, { sent: "no" });
    }
    // The card of a gateway may name the gateway.
    if (wanted !== undefined && did !== wanted && !isThroughGateway(context))
      throw new SageError("sig.binding", `${wanted} was called, and the card at ${url} names ${did}`, { sent: "no" });
    const problem = await unproved(inner, { ...context, peer }, call);
    const proof = problem === undefined ? `it proved to be ${did}` : `it did not prove to be ${did}: ${problem}`;
    return { ...found, peers, evidence: [...found.evidence, proof], proved: problem === undefined, etag: undefined };
  };

/** A DID that was called is the agent, or the gateway in front of it: a setting does not replace it. */
function checkOneIsCalled({ calledDid, settings }: DiscoveryContext, wanted: Maybe<string>): void {
  if (wanted === undefined || calledDid === undefined || calledDid === wanted) return;
  if (calledDid === readSettings(settings(PROTOCOL)).gateway) return;
  throw new SageError("sig.binding", `${calledDid} was called, and sage.peer names ${wanted}`, { sent: "no" });
}

/** Why the peer gives no signed answer. Undefined: it does. */
async function unproved(inner: Protocol, context: ClientContext, call: Call): Promise<Maybe<string>> {
  try {
    await connectOver(inner, context).handler({ kind: "ping" }, call);
    return undefined;
  } catch (thrown) {
    return AgentError.from(thrown).message;
  }
}
