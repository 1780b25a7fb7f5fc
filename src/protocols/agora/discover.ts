import { AgentError, type Call, type Card, type Maybe } from "../../envelope/index.js";
import type { Link } from "../../transport/exchange.js";
import type { Finding, IdSource, Peer, Search } from "../protocol.js";
import { unknownCard } from "../unknown-card.js";
import { isWider } from "../wider.js";
import { baseOf } from "./client/addresses.js";
import { fetchCard } from "./client/fetch-card.js";
import { isOwnPeer } from "./client/own-peer.js";
import { hangUp } from "./client/post.js";

const VERSION = "0.2";
const BINDING = "HTTP";

/** Discovers Agora by its documents. A probe proves that the peer answers. */
export async function discover(link: Link, url: string, call: Call, { known, check }: Search = {}): Promise<Maybe<Finding>> {
  const found = await fetchCard(link, url, call, known?.etag);
  if (found === undefined) return undefined;
  if (found.kind === "unchanged") return known === undefined ? undefined : stillKnown(known, found.url);
  const { card } = found;
  await check?.(card);
  const peer: Peer = { url: found.entry, card, version: VERSION, binding: BINDING, tenant: undefined };
  const problem = await problemAt(link, peer, call);
  // An empty object may be anybody's; a list of hashes is not, and neither is a server that wants credentials first.
  if (problem !== undefined && found.listed === 0 && !isOwnPeer(card) && !isClosed(problem)) return undefined;
  const shown = problem === undefined ? PROOF : `nothing was proved by a live answer: ${problem.message}`;
  const doubted = problem !== undefined && !isClosed(problem);
  return {
    peers: [peer],
    evidence: [describe(found.url, card), shown],
    proved: problem === undefined,
    doubted,
    wider: isWider(url, found.url, [peer]),
    etag: found.etag,
  };
}

/**
 * The library has no document to be found by. It answers the end of a conversation that never was with success, which starts
 * nothing and ends nothing: a message is never sent to find out.
 */
export async function probe(link: Link, url: string, call: Call, { check }: Search = {}): Promise<Maybe<Finding>> {
  const card = unknownCard(url, { streaming: false });
  await check?.(card);
  const peer: Peer = { url: baseOf(url), card, version: VERSION, binding: BINDING, tenant: undefined };
  if ((await problemAt(link, peer, call)) !== undefined) return undefined;
  return { peers: [peer], evidence: [`no discovery document, but ${PROOF}`], proved: true, etag: undefined };
}

function isClosed({ code }: AgentError): boolean {
  return code === "unauthenticated" || code === "forbidden";
}

const PROOF = "the end of a conversation that never was is answered with success";

function stillKnown(known: Finding, url: string): Finding {
  const before = known.evidence.filter((line) => !line.endsWith("has not changed"));
  return { ...known, evidence: [...before, `the document at ${url} has not changed`] };
}

function describe(url: string, { skills, name }: Card): string {
  const documents = skills.filter(({ document }) => document !== undefined).length;
  return `discovery document at ${url} (${name}, ${documents} protocol document${documents === 1 ? "" : "s"})`;
}

/** Undefined: proved. Else why not. */
async function problemAt(link: Link, peer: Peer, call: Call): Promise<Maybe<AgentError>> {
  const ids = probeIds();
  try {
    await hangUp({ link, peer, ids, ours: false }, ids.newId(), call);
    return undefined;
  } catch (thrown) {
    if (call.cancel.reason !== undefined) throw call.cancel.reason;
    return AgentError.from(thrown);
  }
}

/** Probes need unique ids, and no clock. */
function probeIds(): IdSource {
  return { now: () => 0, newId: () => crypto.randomUUID() };
}
