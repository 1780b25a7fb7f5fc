import type { AgentError, Call, Card } from "../../../envelope/index.js";
import { withoutTrailingSlashes } from "../../../transport/address-parts.js";
import type { HttpResponse, Link } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { jsonBody } from "../../../transport/peer-answer.js";
import { makeRequest } from "../../../transport/request.js";
import { readCard } from "../card/card.js";
import { noteServer } from "../codec/legacy-files.js";
import { bodyBytes } from "./raw-result.js";

/** The path since 0.3.0, and that up to 0.2, which some agents still use (§8.2). */
const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"] as const;

export type FetchedCard =
  | { readonly kind: "card"; readonly card: Card; readonly url: string; readonly etag: string | undefined }
  | { readonly kind: "unchanged"; readonly url: string }
  /** The server responded, but not with a card, or it denied access. */
  | { readonly kind: "refused"; readonly url: string; readonly because: string };

/** Fetches the card of an agent: below its address, then at the root of its host. */
export async function fetchCard(link: Link, url: string, call: Call, etag: string | undefined): Promise<FetchedCard | undefined> {
  let refused: FetchedCard | undefined;
  for (const address of cardAddresses(url)) {
    const found = await fetchOne(link, address, call, etag);
    if (found?.kind === "card" || found?.kind === "unchanged") return found;
    refused ??= found;
  }
  return refused;
}

/** The candidate URLs of a card, most likely first. */
export function cardAddresses(url: string): readonly string[] {
  if (/\.json$/.test(url)) return [url];
  const bases = [...new Set([withoutTrailingSlashes(url), new URL(url).origin])];
  return bases.flatMap((base) => CARD_PATHS.map((path) => `${base}${path}`));
}

async function fetchOne(link: Link, url: string, call: Call, etag: string | undefined): Promise<FetchedCard | undefined> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (etag !== undefined) headers["if-none-match"] = etag;
  const response = await link.exchange(makeRequest({ method: "GET", url, headers, call }));
  if (response.status === 304) return { kind: "unchanged", url };
  if (response.status === 401 || response.status === 403) return { kind: "refused", url, because: `HTTP ${response.status}` };
  if (response.status !== 200) return undefined;
  return readDocument(response, url);
}

function readDocument(response: HttpResponse, url: string): FetchedCard | undefined {
  try {
    const document = jsonBody(response);
    const card = readCard(document, bodyBytes(response));
    noteServer(card, response.headers["server"]);
    return { kind: "card", card, url, etag: response.headers["etag"] };
  } catch (thrown) {
    const error = blame(thrown, "bad_peer");
    return error.code === "bad_peer" ? { kind: "refused", url, because: error.message } : rethrow(error);
  }
}

function rethrow(error: AgentError): never {
  throw error;
}
