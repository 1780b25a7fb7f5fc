import { AgentError, CancelSource, type Maybe } from "../envelope/index.js";
import { guardUrl, type Resolver, resolveByDns } from "../security/index.js";
import { httpAddress } from "../transport/request.js";

/** Protocols in which a session is opened by an HTTP request, and those of HTTP itself. */
const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:"]);

/** Where a peer is discovered, and the DID that it must prove. */
export interface PeerAddress {
  readonly url: string;
  /** The DID in use: the called one, or its successor. Undefined: an address was called. */
  readonly did: Maybe<string>;
}

/** The HTTP address at which the peer is discovered: of a session address its origin's, of a DID that of its service. */
export async function peerAddress(url: string, resolver: Resolver): Promise<PeerAddress> {
  if (!/^did:/i.test(url)) return { url: checkedUrl(url), did: undefined };
  const { service, did } = await serviceOf(url, resolver);
  return { url: checkedUrl(service), did };
}

/**
 * The first service of the DID document that can be called. The user chose the DID, so the document may be anywhere; what it names
 * is checked as an address from a document.
 */
async function serviceOf(did: string, resolver: Resolver): Promise<{ readonly service: string; readonly did: string }> {
  const cancel = new CancelSource();
  const resolution = resolver.resolveCurrent?.(did, cancel) ?? resolver.resolve(did, cancel);
  const { document, from = "public" } = await resolution.catch((thrown: unknown) => {
    throw unresolved(thrown, did);
  });
  if (document.deactivated) {
    const next = document.successor === undefined ? "" : `; its document names ${document.successor} as its successor`;
    throw unresolved(new AgentError("bad_peer", `${did.slice(0, 200)} is deactivated${next}`), did);
  }
  const callable = document.services.find(({ url }) => URL.canParse(url) && SCHEMES.has(new URL(url).protocol));
  if (callable === undefined)
    throw new AgentError(
      "bad_peer",
      `the DID document of ${document.id.slice(0, 200)} names no service with an address that can be called`,
      { sent: "no" },
    );
  await guardUrl(httpAddress(callable.url), { from, resolve: resolveByDns });
  return { service: callable.url, did: document.id };
}

/** The peer cannot be reached by this DID. A source that may be back later, and a method that is unknown here, keep their codes. */
function unresolved(thrown: unknown, did: string): AgentError {
  const error = AgentError.from(thrown);
  if (error.code === "unavailable" || error.code === "unsupported") return error;
  const detail = { reason: error.code, ...error.facts.detail, did: did.slice(0, 200) };
  return new AgentError("identity_unresolved", error.message, { field: "url", sent: "no", detail, cause: error });
}

function checkedUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(httpAddress(url));
  } catch {
    throw invalid("invalid_message", `${JSON.stringify(url.slice(0, 200))} is not a URL; expected http://host:port`);
  }
  if (!SCHEMES.has(parsed.protocol))
    throw invalid("unsupported", `unsupported URL scheme ${parsed.protocol} expected http, https, ws, wss or did`);
  if (parsed.username !== "" || parsed.password !== "")
    throw invalid("invalid_message", "credentials in a URL are not supported; pass them as the credentials option");
  return parsed.href.replace(/\/$/, "");
}

function invalid(code: "invalid_message" | "unsupported", message: string): AgentError {
  return new AgentError(code, message, { field: "url", sent: "no" });
}
