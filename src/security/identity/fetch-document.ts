import { AgentError, CancelSource, type Maybe } from "../../envelope/index.js";
import { wholeBody } from "../../transport/body.js";
import { type HttpResponse, isStream } from "../../transport/exchange.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import { type PoolOptions, poolLink } from "../../transport/node/index.js";
import { makeRequest } from "../../transport/request.js";
import type { AddressClass } from "../address.js";
import { guardUrl, type Resolve } from "../outbound-guard.js";
import { pinnedLookup, resolveByDns } from "../resolve-by-dns.js";

/** Where documents may be fetched from. */
export interface DocumentSource {
  /** No document is fetched from a more private address than this. */
  readonly from: AddressClass;
  /** Hosts, `name` or `name:port`, that may have any address. */
  readonly allow?: Maybe<readonly string[]>;
  /** Default: DNS. */
  readonly resolve?: Maybe<Resolve>;
  /** For private certificate authorities. */
  readonly tls?: PoolOptions["tls"];
}

/** A document, and the class of the address that it came from. */
export interface FetchedDocument {
  readonly bytes: Uint8Array;
  readonly class: AddressClass;
}

const ACCEPT = "application/did+json, application/did+ld+json, application/json";

/** Fetches a document at the checked address: one request, no redirects, no credentials. */
export async function fetchDocument(
  url: string,
  { from, allow, resolve = resolveByDns, tls }: DocumentSource,
  { bytes, timeoutMs }: { readonly bytes: number; readonly timeoutMs: number },
): Promise<FetchedDocument> {
  const target = await guardUrl(url, { from, allow, resolve });
  const limits = { ...DEFAULT_LIMITS, bodyBytes: bytes };
  const link = poolLink({ limits, connectTimeoutMs: timeoutMs, lookup: pinnedLookup(target), tls });
  const cancel = new CancelSource();
  const late = (): void =>
    cancel.cancel(new AgentError("unavailable", `${target.hostname} did not send the document within ${timeoutMs} ms`));
  const timer = setTimeout(late, timeoutMs);
  try {
    const headers = { accept: ACCEPT, "accept-encoding": "identity" };
    const response = await link.exchange(makeRequest({ method: "GET", url: target.url, headers, cancel }));
    if (response.status !== 200) throw await refused(response, target.hostname);
    return { bytes: await wholeBody(response.body, bytes), class: target.class };
  } catch (thrown) {
    throw cancel.reason ?? thrown;
  } finally {
    clearTimeout(timer);
    await link.close();
  }
}

async function refused({ status, body }: HttpResponse, hostname: string): Promise<AgentError> {
  if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
  if (status >= 300 && status < 400)
    return new AgentError("bad_peer", `${hostname} redirects; redirects of DID documents are not followed`, { status });
  if (status === 404 || status === 410) return new AgentError("not_found", `${hostname} has no such document`, { status });
  return new AgentError("unavailable", `${hostname} answered with status ${status}`, { status });
}
