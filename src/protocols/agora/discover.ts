import { AgentError, type Call, type Card, type Maybe } from "../../envelope/index.js";
import type { Link } from "../../transport/exchange.js";
import { isBusy, isWider, unknownCard } from "../discovery.js";
import type { DiscoveryContext, Finding, IdSource, Peer, Search } from "../protocol.js";
import { takesPosts } from "../takes-posts.js";
import { baseOf, koineEntryBelow } from "./client/addresses.js";
import { fetchCard } from "./client/fetch-card.js";
import { isKoinePeer } from "./client/koine-peer.js";
import { PLAIN } from "./client/plain.js";
import { endConversation } from "./client/post.js";

const VERSION = "0.2";
const BINDING = "HTTP";

/** Discovers Agora by its documents. A probe proves that the peer answers. */
export async function discover(
  { link }: DiscoveryContext,
  url: string,
  call: Call,
  { known, check }: Search = {},
): Promise<Maybe<Finding>> {
  const found = await fetchCard(link, url, call, known?.etag);
  if (found === undefined) return undefined;
  if (found.kind === "unchanged") return known === undefined ? undefined : stillKnown(known, found.url);
  const { card } = found;
  await check?.(card);
  const peer: Peer = { url: found.entry, card, version: VERSION, binding: BINDING, tenant: undefined };
  const problem = await problemAt(link, peer, call);
  // An empty object could belong to any server; a list of hashes or a demand for credentials could not.
  if (problem !== undefined && found.listed === 0 && !isKoinePeer(card) && !isClosed(problem)) return undefined;
  const shown = problem === undefined ? PROOF : `not verified by a live answer: ${problem.message}`;
  const doubted = problem !== undefined && !isClosed(problem) && !isBusy(problem);
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
 * The Python library has no discovery document. It answers the deletion of an unknown conversation with success, which has no
 * side effects. The seed's plain form has only the path of its endpoint. No message is ever sent as a probe.
 */
export async function probe(
  { link }: DiscoveryContext,
  url: string,
  call: Call,
  { check, pin }: Search = {},
): Promise<Maybe<Finding>> {
  const card = unknownCard(url, { streaming: false });
  await check?.(card);
  const peer: Peer = { url: baseOf(url), card, version: VERSION, binding: BINDING, tenant: undefined };
  if (pin?.includes(`@${PLAIN.version}`) !== true && (await problemAt(link, peer, call)) === undefined)
    return { peers: [peer], evidence: [`no discovery document, but ${PROOF}`], proved: true, etag: undefined };
  const entry = koineEntryBelow(peer.url);
  if (!(await takesPosts(link, entry, call))) return undefined;
  const evidence = [`${entry} takes POST and nothing else: the plain form of Agora`];
  return { peers: [{ ...peer, ...PLAIN, url: entry }], evidence, proved: false, etag: undefined };
}

function isClosed({ code }: AgentError): boolean {
  return code === "unauthenticated" || code === "forbidden";
}

const PROOF = "deleting an unknown conversation succeeds";

function stillKnown(known: Finding, url: string): Finding {
  const before = known.evidence.filter((line) => !line.endsWith("has not changed"));
  return { ...known, evidence: [...before, `the document at ${url} has not changed`] };
}

function describe(url: string, { skills, name }: Card): string {
  const documents = skills.filter(({ document }) => document !== undefined).length;
  return `discovery document at ${url} (${name}, ${documents} protocol document${documents === 1 ? "" : "s"})`;
}

/** Undefined if the probe succeeded, else the reason. */
async function problemAt(link: Link, peer: Peer, call: Call): Promise<Maybe<AgentError>> {
  const ids = probeIds();
  try {
    await endConversation({ link, peer, ids, isKoine: false, isPlain: false }, ids.newId(), call);
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
