import { AgentError, type Call, type Card, isObject, type Maybe } from "../../envelope/index.js";
import type { HttpResponse, Link } from "../../transport/exchange.js";
import { jsonBody } from "../../transport/peer-answer.js";
import type { DiscoveryContext, Finding, Peer, Search } from "../protocol.js";
import { agentAddress, agentUrl } from "./client/address.js";
import { requestFor } from "./client/ask.js";
import { manifestIn } from "./client/fetch-manifest.js";
import { decodeManifest } from "./codec/manifest.js";

const VERSION = "0.2";
const BINDING = "REST";
/** RFC 9110 §15.6.4. */
const UNAVAILABLE = 503;

/**
 * Detects BeeAI ACP: `/ping` returns an object, and `/agents` lists manifests. On a server with several agents the first is used,
 * unless the address names one (`…/agents/name`).
 */
export async function discover(
  { link }: DiscoveryContext,
  url: string,
  call: Call,
  { known, check }: Search = {},
): Promise<Maybe<Finding>> {
  const { base, agentName } = agentAddress(url);
  const pinged = await get(link, `${base}/ping`, call);
  // A server that cannot answer now may still list its agents.
  const isBusy = pinged.status === UNAVAILABLE;
  if (!isBusy && !isObject(contentOf(pinged))) return undefined;
  const where = agentName === undefined ? `${base}/agents` : agentUrl(base, agentName);
  const response = await get(link, where, call, known?.etag);
  if (response.status === 304 && known !== undefined) return unchanged(known, where);
  const shown = agentName === undefined ? firstOf(response, where) : namedIn(response, where);
  if (shown !== undefined) {
    await check?.(shown.card);
    const evidence = [
      isBusy ? `GET ${base}/ping says that it is unavailable` : `GET ${base}/ping was answered`,
      ...shown.evidence,
    ];
    return { peers: [peerOf(base, shown.card)], evidence, proved: !isBusy, etag: response.headers["etag"] };
  }
  // An answer to /ping and an authentication error are not proof, but typical of a protected ACP server.
  if (isBusy || agentName === undefined || (response.status !== 401 && response.status !== 403)) return undefined;
  const peer = peerOf(base, decodeManifest({ name: agentName }));
  await check?.(peer.card);
  const evidence = [`GET ${base}/ping was answered, but ${where} requires credentials (HTTP ${response.status})`];
  return { peers: [peer], evidence, proved: false, etag: undefined };
}

function get(link: Link, url: string, call: Call, etag?: Maybe<string>): HttpResponse | Promise<HttpResponse> {
  const headers = etag === undefined ? undefined : { "if-none-match": etag };
  return link.exchange(requestFor({ method: "GET", url, headers }, call));
}

/** Undefined unless the response is successful JSON: the server uses another protocol. */
function contentOf(response: HttpResponse): unknown {
  if (response.status !== 200) return undefined;
  try {
    return jsonBody(response);
  } catch {
    return undefined;
  }
}

function unchanged(known: Finding, where: string): Finding {
  const line = `${where} has not changed`;
  return { ...known, evidence: [...known.evidence.filter((each) => each !== line), line] };
}

interface Shown {
  readonly card: Card;
  readonly evidence: readonly string[];
}

function namedIn(response: HttpResponse, where: string): Maybe<Shown> {
  if (response.status !== 200) return undefined;
  try {
    const card = manifestIn(response);
    return { card, evidence: [`agent manifest at ${where} (${card.name})`] };
  } catch (thrown) {
    if (AgentError.from(thrown).code === "bad_peer") return undefined;
    throw thrown;
  }
}

/** The first valid manifest: an invalid one does not hide the others. */
function firstOf(response: HttpResponse, where: string): Maybe<Shown> {
  const body = contentOf(response);
  const listed: readonly unknown[] = isObject(body) && Array.isArray(body["agents"]) ? body["agents"] : [];
  const broken: string[] = [];
  const cards: Card[] = [];
  for (const manifest of listed) {
    try {
      cards.push(decodeManifest(manifest));
    } catch (thrown) {
      broken.push(thrown instanceof Error ? thrown.message : "unreadable");
    }
  }
  const [card] = cards;
  if (card === undefined) return undefined;
  const others = cards.length - 1;
  return {
    card,
    evidence: [
      `${where} lists ${listed.length === 1 ? "one agent" : `${listed.length} agents`}`,
      ...(broken.length === 0 ? [] : [`${broken.length} of them cannot be read: ${broken[0]}`]),
      ...(others === 0 ? [] : [`the first, ${card.name}, is used; address another as ${where}/<name>`]),
    ],
  };
}

function peerOf(base: string, found: Card): Peer {
  // The URL must identify this agent, whichever is listed first.
  const url = `${base}/agents/${encodeURIComponent(found.name)}`;
  const card = { ...found, interfaces: [{ protocol: "acp", version: VERSION, binding: BINDING, url }] };
  return { url: base, card, version: VERSION, binding: BINDING };
}
