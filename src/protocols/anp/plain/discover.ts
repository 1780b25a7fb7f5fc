import type { Call, Card, Maybe } from "../../../envelope/index.js";
import { DecodeProblem, readObject } from "../../../transport/fields.js";
import { openSession } from "../../../transport/links.js";
import { makeRequest } from "../../../transport/request.js";
import { unknownCard } from "../../discovery.js";
import type { DiscoveryContext, Finding, Search } from "../../protocol.js";
import { takesPosts } from "../../takes-posts.js";
import { decodeCard } from "../codec/card.js";
import { readSettings } from "../settings.js";
import { LEGACY, MESSAGE_PATH, PLAIN, PROTOCOL, SESSION_PATH } from "../wire.js";

/** RFC 6455 §7.4.1. */
const NORMAL = 1000;

/** The card of the seeds' servers, which says `"protocol": "ANP"`. */
export async function plainAt(
  origin: string,
  read: <T>(url: string, decode: (value: unknown) => T) => Promise<Maybe<T>>,
  { check }: Search,
): Promise<Maybe<Finding>> {
  const where = `${origin}/.well-known/agent.json`;
  const card = await read(where, (value) => {
    const wire = readObject(value, "");
    if (wire["protocol"] !== "ANP") throw new DecodeProblem("protocol", "is not ANP");
    return decodeCard({ name: wire["name"], description: wire["description"] }, "");
  });
  if (card === undefined) return undefined;
  const evidence = `a card of the plain form at ${where} (${card.name})`;
  return finding({ card, version: PLAIN, binding: "PLAIN", url: origin, evidence }, { check });
}

/** The endpoint for messages of the plain form, for those who ask for it where there are better ones. It is found without a message. */
export async function plainMessagesAt(
  { link }: DiscoveryContext,
  origin: string,
  call: Call,
  search: Search,
): Promise<Maybe<Finding>> {
  const where = origin + MESSAGE_PATH;
  if (!(await takesPosts(link, where, call))) return undefined;
  const evidence = `${where} takes POST and nothing else: the plain form of ANP`;
  return finding(
    { card: unknownCard(origin, { streaming: false }), version: PLAIN, binding: "PLAIN", url: origin, evidence },
    search,
  );
}

/** The version of a session that the user asks for, by a pin or a setting. */
export function sessionVersion({ settings }: DiscoveryContext, { pin }: Search): Maybe<typeof PLAIN | typeof LEGACY> {
  if (pin?.startsWith(`${PROTOCOL}@${PLAIN}`) === true) return PLAIN;
  return readSettings(settings(PROTOCOL)).legacySession ? LEGACY : undefined;
}

/**
 * A session at an address that ends in `/ws` and takes no subprotocol. What it carries cannot be asked without a message: it is the
 * plain form, or the old session if the user switched it on.
 */
export async function sessionAt(context: DiscoveryContext, url: string, call: Call, search: Search): Promise<Maybe<Finding>> {
  const { origin, pathname } = new URL(url);
  if (!pathname.endsWith(SESSION_PATH)) return undefined;
  const at = origin + pathname;
  if (!(await takesSessions(context, at, call))) return undefined;
  const version = sessionVersion(context, search) ?? PLAIN;
  const what = version === LEGACY ? "the old session, which the setting anp.legacySession asks for" : "the plain form";
  const evidence = `${at} accepts a WebSocket without a subprotocol: ${what}`;
  return finding({ card: unknownCard(at, { streaming: false }), version, binding: "WS", url: at, evidence }, search);
}

async function takesSessions({ link }: DiscoveryContext, url: string, call: Call): Promise<boolean> {
  try {
    const session = await openSession(link, makeRequest({ method: "GET", url, call }), []);
    session.close(NORMAL, "");
    return true;
  } catch {
    return false;
  }
}

interface Found {
  readonly card: Card;
  readonly version: string;
  readonly binding: string;
  readonly url: string;
  readonly evidence: string;
}

async function finding({ card, version, binding, url, evidence }: Found, { check }: Search): Promise<Finding> {
  const via = { protocol: PROTOCOL, version, binding, url };
  const plain: Card = { ...card, capabilities: { ...card.capabilities, streaming: false }, interfaces: [via] };
  await check?.(plain);
  return { peers: [{ url, card: plain, version, binding }], evidence: [evidence], proved: false };
}
