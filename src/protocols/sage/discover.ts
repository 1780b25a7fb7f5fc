import { AgentError, type Call, type Maybe } from "../../envelope/index.js";
import { isBusy } from "../discovery.js";
import type { ClientContext, DiscoveryContext, Finding, Peer, Protocol, Search } from "../protocol.js";
import { agentDid, calledAgent, isThroughGateway } from "./agent-did.js";
import { connectOver } from "./client.js";
import { SageError } from "./errors.js";
import { sageIdentity } from "./identity/signing-key.js";
import { checkOver, type Inner, isCarrier, isOfferedOver } from "./inner.js";
import { readSettings } from "./settings.js";
import { PROTOCOL, VERSION } from "./wire.js";

/**
 * Finds a protocol below at the address, with a card that names the DID, and asks for a signed answer. Without an identity nothing can
 * be signed: then the peer is not asked, and one that was called by its DID is refused.
 */
export const discoverOver =
  (inners: readonly Inner[]): Protocol["discover"] =>
  async (context, url, call, search = {}) => {
    const wanted = calledAgent(context);
    checkOneIsCalled(context, wanted);
    const [pinned, pinnedBinding] = pinOf(search);
    if (sageIdentity(context) === undefined) {
      if (wanted === undefined && !pinned) return undefined;
      const peer = wanted ?? `${url} by SAGE`;
      throw new AgentError("unauthenticated", `${peer} takes signed messages: give an identity made by koine sage create`, {
        field: "identity",
        sent: "no",
      });
    }
    const { over } = readSettings(context.settings(PROTOCOL));
    checkOver(inners, over);
    for (const inner of wantedInners(inners, over, pinnedBinding)) {
      const found = await inner.protocol.discover(context, url, call, { ...search, known: undefined, unprobed: true });
      if (found === undefined) continue;
      const finding = await offered(inner, found, { context, url, call, wanted });
      if (finding !== undefined) return finding;
      // A card says over which protocols SAGE is served. One without SAGE says that it is not.
      if (over === undefined && found.peers.every(({ card }) => agentDid(card) === undefined)) break;
    }
    if (wanted === undefined) return undefined;
    throw new SageError("policy_denied", `${wanted} was called, and the agent at ${url} does not offer SAGE`, { sent: "no" });
  };

/** Whether SAGE was requested, and the binding if one was. */
function pinOf({ pin }: Search): readonly [boolean, Maybe<string>] {
  return [pin?.split(/[@/]/, 1)[0] === PROTOCOL, pin?.split("/", 2)[1]];
}

function wantedInners(inners: readonly Inner[], over: Maybe<readonly string[]>, binding: Maybe<string>): readonly Inner[] {
  const named = over?.flatMap((name) => inners.filter(({ id }) => id === name)) ?? inners;
  return binding === undefined ? named : named.filter((each) => each.binding === binding);
}

interface Sought {
  readonly context: DiscoveryContext;
  readonly url: string;
  readonly call: Call;
  /** The DID that was called. */
  readonly wanted: Maybe<string>;
}

/** SAGE over a protocol that was found. Undefined: it is not offered. */
async function offered(inner: Inner, found: Finding, { context, url, call, wanted }: Sought): Promise<Maybe<Finding>> {
  const { binding } = inner;
  const peers = found.peers
    .filter((peer) => isCarrier(inner, peer) && isOfferedOver(inner, peer.card))
    .map((peer): Peer => ({ ...peer, version: VERSION, binding }));
  const [first] = peers;
  const did = first && agentDid(first.card);
  if (did === undefined) return undefined;
  // The card of a gateway may name the gateway.
  if (wanted !== undefined && did !== wanted && !isThroughGateway(context))
    throw new SageError("sig.binding", `${wanted} was called, and the card at ${url} names ${did}`, { sent: "no" });
  const evidence = [...found.evidence];
  const problems: AgentError[] = [];
  for (const [index, peer] of peers.entries()) {
    const problem = await unproved(inner, { ...context, peer }, call);
    if (problem === undefined) {
      evidence.push(`it proved to be ${did}`);
      return { ...found, peers: [peer, ...peers.toSpliced(index, 1)], evidence, proved: true, etag: undefined };
    }
    evidence.push(`it did not prove to be ${did}: ${problem.message}`);
    problems.push(problem);
  }
  const doubted = problems.every((problem) => !mayBeThere(problem));
  const absent = problems.every(({ facts: { status } }) => status === 404 || status === 405);
  return { ...found, peers, evidence, proved: false, doubted, absent, etag: undefined };
}

/** An agent that refuses this caller, or cannot answer now, has not said that it is no such agent. */
function mayBeThere(problem: AgentError): boolean {
  return problem.code === "unauthenticated" || problem.code === "forbidden" || isBusy(problem);
}

/** A DID that was called is the agent, or the gateway in front of it: a setting does not replace it. */
function checkOneIsCalled({ calledDid, settings }: DiscoveryContext, wanted: Maybe<string>): void {
  if (wanted === undefined || calledDid === undefined || calledDid === wanted) return;
  if (calledDid === readSettings(settings(PROTOCOL)).gateway) return;
  throw new SageError("sig.binding", `${calledDid} was called, and sage.peer names ${wanted}`, { sent: "no" });
}

/** Why the peer gives no signed answer. Undefined: it does. */
async function unproved(inner: Inner, context: ClientContext, call: Call): Promise<Maybe<AgentError>> {
  try {
    await connectOver(inner, context).prove(call);
    return undefined;
  } catch (thrown) {
    return AgentError.from(thrown);
  }
}
