import { type Call, type Card, isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { withoutTrailingSlashes } from "../../../transport/address-parts.js";
import type { Link } from "../../../transport/exchange.js";
import { jsonBody } from "../../../transport/peer-answer.js";
import { unknownCard } from "../../discovery.js";
import type { DiscoveryContext, Finding, Search } from "../../protocol.js";
import { requestFor } from "../client/ask.js";

export const PLAIN = { version: "plain", binding: "PLAIN" } as const;

/** Limit of capabilities read from one peer. */
const LISTED = 256;

/** Finds the seed's plain endpoints by `/acp/capabilities`. No message is sent. */
export async function probe(
  { link }: DiscoveryContext,
  url: string,
  call: Call,
  { check }: Search = {},
): Promise<Maybe<Finding>> {
  const base = withoutTrailingSlashes(url.split(/[?#]/, 1)[0] ?? "").replace(/\/acp(?:\/message)?$/, "");
  const card = await plainCard(link, base, call);
  if (card === undefined) return undefined;
  await check?.(card);
  const evidence = [`${base}/acp/capabilities names ACP (${card.name}): the plain form`];
  return { peers: [{ url: base, card, ...PLAIN }], evidence, proved: true, etag: undefined };
}

/** Undefined if the peer has no such document. Interrupted streams are resumed where the peer numbers its events. */
export async function plainCard(link: Link, base: string, call: Call): Promise<Maybe<Card>> {
  const document = await documentAt(link, `${base}/acp/capabilities`, call);
  const { agent_id: id, protocol, capabilities, features } = document ?? {};
  if (typeof id !== "string" || typeof protocol !== "string" || protocol.toUpperCase() !== "ACP") return undefined;
  const streams = Array.isArray(features) && features.includes("streaming");
  const unknown = unknownCard(base, { streaming: streams });
  const skills = (Array.isArray(capabilities) ? capabilities : [])
    .filter((each): each is string => typeof each === "string")
    .slice(0, LISTED);
  return {
    ...unknown,
    name: id,
    skills: skills.map((each) => ({ id: each, name: each, description: "", tags: [] })),
    capabilities: { ...unknown.capabilities, resume: streams },
    interfaces: [{ protocol: "acp", ...PLAIN, url: base }],
  };
}

async function documentAt(link: Link, url: string, call: Call): Promise<Maybe<JsonObject>> {
  const response = await link.exchange(requestFor({ method: "GET", url }, call));
  if (response.status !== 200) return undefined;
  try {
    const body = jsonBody(response);
    return isObject(body) ? body : undefined;
  } catch {
    // Not JSON: another server.
    return undefined;
  }
}
