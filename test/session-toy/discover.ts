import { AgentError, type Call, isObject, type JsonObject, type Maybe } from "../../src/envelope/index.js";
import type { DidMethod, DiscoveryContext, Finding } from "../../src/protocols/index.js";
import type { Search } from "../../src/protocols/protocol.js";
import { responseJson } from "../../src/transport/body.js";
import type { HttpResponse } from "../../src/transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../../src/transport/limits.js";
import { httpAddress, makeRequest } from "../../src/transport/request.js";
import { agentUrl, cardAt, decodeCard } from "./codec.js";
import { PATH, VIA } from "./wire.js";

/** The document at the plain address of the session. The query of an address names one of its agents; else it is the first. */
export async function discover(
  { link, limits }: DiscoveryContext,
  url: string,
  call: Call,
  { check }: Search = {},
): Promise<Maybe<Finding>> {
  const { origin, pathname, searchParams } = new URL(httpAddress(url));
  const base = `${origin}${pathname.replace(/\/$/, "")}`;
  const address = base.endsWith(PATH) ? base : `${base}${PATH}`;
  const response = await link.exchange(makeRequest({ method: "GET", url: address, call }));
  const document = response.status === 200 ? await readDocument(response, limits) : undefined;
  if (document?.["session-toy"] !== 1 || typeof document["url"] !== "string" || !Array.isArray(document["agents"]))
    return undefined;
  const wanted = searchParams.get("agent");
  const agents: readonly unknown[] = document["agents"];
  const listed = agents.filter(isObject).find(({ name }) => wanted === null || name === wanted);
  if (listed === undefined) return undefined;
  const named = decodeCard(listed, "agent");
  const session = agentUrl(document["url"], named.name);
  const card = cardAt(named, session);
  await check?.(card);
  return {
    peers: [{ url: session, card, version: VIA.version, binding: VIA.binding }],
    evidence: [`a session toy document at ${address}`],
    proved: true,
  };
}

/** A body that is not JSON belongs to another protocol. */
async function readDocument(response: HttpResponse, limits: Limits): Promise<Maybe<JsonObject>> {
  try {
    const document = await responseJson(response, limits);
    return isObject(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

const DOCUMENT_MS = 5_000;

/** `did:toy:127.0.0.1%3A8080` is the agent whose document is at that host. */
export const didToy: DidMethod = {
  method: "toy",
  async resolve(did, fetch) {
    const host = decodeURIComponent(did.split(":")[2] ?? "");
    const url = `http://${host}${PATH}`;
    if (!URL.canParse(url)) throw new AgentError("not_found", `${did.slice(0, 200)} names no host`, { sent: "no" });
    const bytes = await fetch(url, { bytes: DEFAULT_LIMITS.bodyBytes, timeoutMs: DOCUMENT_MS });
    const document = await readDocument({ status: 200, headers: {}, body: bytes }, DEFAULT_LIMITS);
    if (typeof document?.["url"] !== "string") throw new AgentError("bad_peer", `no session toy document at ${url}`);
    const services = [{ id: `${did}#toy`, type: "SessionToy", url: document["url"] }];
    return { id: did, keys: [], services, deactivated: false, successor: undefined, bytes };
  },
};
