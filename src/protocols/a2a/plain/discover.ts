import type { Call, Card, Maybe } from "../../../envelope/index.js";
import { withoutTrailingSlashes } from "../../../transport/address-parts.js";
import type { Link } from "../../../transport/exchange.js";
import { unknownCard } from "../../discovery.js";
import type { DiscoveryContext, Finding, Search } from "../../protocol.js";
import { takesPosts } from "../../takes-posts.js";
import { fetchCard } from "../client/fetch-card.js";

export const PLAIN = { version: "plain", binding: "PLAIN" } as const;

/**
 * Finds the seed's plain endpoint. It cannot be asked without sending a message, so the path is looked for instead; its card, if
 * there is one, only names the agent.
 */
export async function probe(
  { link }: DiscoveryContext,
  url: string,
  call: Call,
  { check }: Search = {},
): Promise<Maybe<Finding>> {
  const base = withoutTrailingSlashes(url.split(/[?#]/, 1)[0] ?? "").replace(/\/message$/, "");
  const card = await plainCard(link, base, call);
  await check?.(card);
  if (!(await takesPosts(link, `${base}/message`, call))) return undefined;
  const evidence = [`${base}/message takes POST and nothing else: the plain form of A2A`];
  return { peers: [{ url: base, card, ...PLAIN, tenant: undefined }], evidence, proved: false, etag: undefined };
}

/** Interrupted streams are resumed where the peer numbers its events. */
export async function plainCard(link: Link, base: string, call: Call): Promise<Card> {
  const found = await fetchCard(link, base, call, undefined);
  const card = found?.kind === "card" ? found.card : unknownCard(base, { streaming: true });
  const interfaces = [{ protocol: "a2a", ...PLAIN, url: base }];
  return { ...card, interfaces, capabilities: { ...card.capabilities, resume: true } };
}
