import { type Call, type Card, type Interface, isObject, type Maybe } from "../../envelope/index.js";
import type { HttpResponse } from "../../transport/exchange.js";
import { readObject } from "../../transport/fields.js";
import { encodeRpcRequest } from "../../transport/json-rpc.js";
import { jsonBody } from "../../transport/peer-answer.js";
import { httpAddress, makeRequest } from "../../transport/request.js";
import type { DiscoveryContext, Finding, Peer, Search } from "../protocol.js";
import { type Question, SignedRequests } from "./client/signed-requests.js";
import { decodeCard } from "./codec/card.js";
import {
  type DescribedInterface,
  type Description,
  decodeDescription,
  decodeInterface,
  isKoine,
  SESSION_PROTOCOL,
} from "./codec/description.js";
import { DIRECT_PROFILE } from "./codec/direct.js";
import { plainAt, plainMessagesAt, sessionAt, sessionVersion } from "./plain/discover.js";
import { readSettings } from "./settings.js";
import {
  BASE,
  type Binding,
  DESCRIPTION,
  DISCOVERY_PATH,
  INTERFACE,
  MESSAGE_SERVICE,
  MESSAGING,
  PLAIN,
  PROTOCOL,
  RPC,
  SESSION_PATH,
  VERSION,
} from "./wire.js";

/** Finds the description of an agent: at the address itself if it names a document, else at `/anp/ad.json` below it. */
export async function discover(context: DiscoveryContext, url: string, call: Call, search: Search = {}): Promise<Maybe<Finding>> {
  const { origin, pathname } = new URL(httpAddress(url));
  if (sessionVersion(context, search) === PLAIN && !pathname.endsWith(SESSION_PATH))
    return plainMessagesAt(context, origin, call, search);
  return describedAt(context, descriptionUrl(url), call, search);
}

/** Items of a page of descriptions that are looked at. */
const MAX_ITEMS = 16;

/**
 * Looks where agents of other implementations are: at `/ad.json`, in the list of the host (ANP-08), and at the card of the seeds'
 * plain form, and for its sessions.
 */
export async function probe(context: DiscoveryContext, url: string, call: Call, search: Search = {}): Promise<Maybe<Finding>> {
  const { origin, pathname } = new URL(httpAddress(url));
  const base = origin + pathname.replace(/\/$/, "");
  // Whoever names a session of the plain form, or switched the old one on, wants no other at its address.
  if (pathname.endsWith(SESSION_PATH) && sessionVersion(context, search) !== undefined)
    return sessionAt(context, base, call, search);
  const found = await describedAt(context, `${base}/${DESCRIPTION}`, call, search);
  if (found !== undefined) return found;
  const page = read(await fetched(context, origin + DISCOVERY_PATH, call), (value) => readObject(value, ""));
  const items = Array.isArray(page?.["items"]) ? (page["items"] as readonly unknown[]).slice(0, MAX_ITEMS) : [];
  for (const item of items.filter(isObject)) {
    const at = typeof item["@id"] === "string" ? resolved(item["@id"], origin) : undefined;
    // What a list names is looked at only where the list is: another host is not the one that the user named.
    if (at === undefined || new URL(at).origin !== origin) continue;
    const listed = await describedAt(context, at, call, search);
    if (listed !== undefined) return { ...listed, evidence: [...listed.evidence, `listed at ${origin}${DISCOVERY_PATH}`] };
  }
  const messaging = await messagingOf(context, call, search);
  if (messaging !== undefined) return messaging;
  const plain = await plainAt(origin, async (at, decode) => read(await fetched(context, at, call), decode), search);
  return plain ?? sessionAt(context, base, call, search);
}

async function describedAt(
  context: DiscoveryContext,
  where: string,
  call: Call,
  { known, check, pin }: Search,
): Promise<Maybe<Finding>> {
  const response = await fetched(context, where, call, known?.etag);
  if (response.status === 304 && known !== undefined) return known;
  const description = read(response, decodeDescription);
  if (description === undefined) return undefined;
  const described = await peersOf(context, where, description, call);
  const peers = [
    ...described,
    ...(await directPeers(context, { where, description, pin, isOnly: described.length === 0 }, call)),
  ];
  const [first] = peers;
  if (first === undefined) return undefined;
  await check?.(first.card);
  return {
    peers,
    evidence: [`an agent description at ${where} (${description.card.name})`],
    proved: true,
    etag: response.headers["etag"],
  };
}

/** Direct messages are for peers that have nothing else, and for those who ask for them: each needs its answer by another way. */
async function directPeers(
  context: DiscoveryContext,
  { where, description, pin, isOnly }: { where: string; description: Description; pin: Maybe<string>; isOnly: boolean },
  call: Call,
): Promise<readonly Peer[]> {
  if (!isOnly && pin?.endsWith("/DIRECT") !== true) return [];
  const meta = description.interfaces.find(({ type }) => type === "MetaProtocolInterface")?.url;
  const url = meta === undefined ? undefined : resolved(meta, where);
  const did = readSettings(context.settings(PROTOCOL)).peer ?? context.calledDid ?? description.did;
  const found =
    url === undefined || did === undefined ? undefined : await messagingAt(context, { url, did, card: description.card }, call);
  return found === undefined ? [] : [found];
}

/** A peer whose document names a message service, and that has no description. */
async function messagingOf(context: DiscoveryContext, call: Call, { check }: Search): Promise<Maybe<Finding>> {
  const did = context.calledDid;
  const resolution = did === undefined ? undefined : await context.resolver.resolve(did, call.cancel).catch(() => undefined);
  const service = resolution?.document.services.find(({ type }) => type === MESSAGE_SERVICE);
  if (did === undefined || service === undefined) return undefined;
  const card = decodeCard({ name: did, description: `the agent of ${did}` }, "");
  const peer = await messagingAt(context, { url: service.url, did, card }, call);
  if (peer === undefined) return undefined;
  await check?.(peer.card);
  return { peers: [peer], evidence: [`a message service in the document of ${did}, at ${service.url}`], proved: true };
}

/** Undefined unless the capabilities of the service name direct messages. */
async function messagingAt(
  context: DiscoveryContext,
  { url, did, card }: { readonly url: string; readonly did: string; readonly card: Card },
  call: Call,
): Promise<Maybe<Peer>> {
  const body = encodeRpcRequest(context.newId(), MESSAGING.capabilities, {});
  const response = await signed(context, { method: "POST", url, body }, call);
  const profiles = read(response, (value) => readObject(readObject(value, "")["result"], "result")["supported_profiles"]);
  if (!Array.isArray(profiles) || !profiles.includes(DIRECT_PROFILE)) return undefined;
  const at = new URL(url);
  at.searchParams.set("did", did);
  const via = { protocol: PROTOCOL, version: VERSION, binding: "DIRECT", url: at.href };
  const own: Card = { ...card, capabilities: { ...card.capabilities, streaming: false }, interfaces: [via] };
  return { url: at.href, card: own, version: VERSION, binding: "DIRECT" };
}

/** An address may be that of a description, an interface or an endpoint, or of a host. */
function descriptionUrl(url: string): string {
  const { origin, pathname } = new URL(httpAddress(url));
  if (pathname.endsWith(`/${DESCRIPTION}`)) return origin + pathname;
  const below = [RPC, INTERFACE].find((each) => pathname.endsWith(`/${each}`));
  if (below !== undefined) return `${origin}${pathname.slice(0, -below.length)}${DESCRIPTION}`;
  return pathname.endsWith(BASE)
    ? `${origin}${pathname}/${DESCRIPTION}`
    : `${origin}${pathname.replace(/\/$/, "")}${BASE}/${DESCRIPTION}`;
}

function fetched(
  { link }: DiscoveryContext,
  url: string,
  call: Call,
  etag?: Maybe<string>,
): HttpResponse | Promise<HttpResponse> {
  const headers = { accept: "application/json", ...(etag === undefined ? undefined : { "if-none-match": etag }) };
  return link.exchange(makeRequest({ method: "GET", url, headers, call }));
}

/** Interfaces of OpenANP are shown only to callers that prove who they are. */
function signed(context: DiscoveryContext, question: Question, call: Call): Promise<HttpResponse> {
  const { authentication } = readSettings(context.settings(PROTOCOL));
  return new SignedRequests(context, authentication).send(question, call);
}

/** Undefined unless the response is such a document: the peer uses another protocol. */
function read<T>(response: HttpResponse, decode: (value: unknown) => T): Maybe<T> {
  if (response.status !== 200) return undefined;
  try {
    return decode(jsonBody(response));
  } catch {
    return undefined;
  }
}

/** The interfaces that can be called, the encrypted session first. */
async function peersOf(context: DiscoveryContext, where: string, description: Description, call: Call): Promise<readonly Peer[]> {
  const session = description.interfaces.find(({ protocol, url }) => protocol === SESSION_PROTOCOL && url !== undefined);
  const structured = description.interfaces.find(isOpenRpc);
  const found: [Binding, string][] = [];
  if (session?.url !== undefined) found.push(["WS", session.url]);
  const rpc = structured && (await rpcOf(context, where, structured, call));
  if (rpc !== undefined) found.push(rpc);
  const interfaces: Interface[] = found.map(([binding, url]) => ({ protocol: PROTOCOL, version: VERSION, binding, url }));
  const card: Card = { ...description.card, interfaces };
  return found.map(([binding, url]) => ({ url, card, version: VERSION, binding }));
}

function isOpenRpc({ type, protocol }: DescribedInterface): boolean {
  return type === "StructuredInterface" && protocol === "openrpc";
}

async function rpcOf(
  context: DiscoveryContext,
  where: string,
  { url, content }: DescribedInterface,
  call: Call,
): Promise<Maybe<[Binding, string]>> {
  const at = url === undefined ? undefined : resolved(url, where);
  const inline = content === undefined ? undefined : safely(() => decodeInterface(content));
  const described =
    inline ?? (at === undefined ? undefined : read(await signed(context, { method: "GET", url: at }, call), decodeInterface));
  if (described === undefined) return undefined;
  const endpoint = described.url === undefined ? undefined : resolved(described.url, at ?? where);
  if (endpoint === undefined) return undefined;
  return isKoine(described) ? ["JSONRPC", endpoint] : ["OPENRPC", where];
}

function safely<T>(read: () => T): Maybe<T> {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** An address in a document, relative to that of the document. */
function resolved(url: string, base: string): Maybe<string> {
  return URL.canParse(url, base) ? new URL(url, base).href : undefined;
}
