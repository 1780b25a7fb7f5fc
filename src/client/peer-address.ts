import { AgentError, CancelSource } from "../envelope/index.js";
import { guardUrl, type Resolver, resolveByDns } from "../security/index.js";
import { httpAddress } from "../transport/request.js";

/** Protocols in which a session is opened by an HTTP request, and those of HTTP itself. */
const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "ws:", "wss:"]);

/** The HTTP address at which the peer is discovered: of a session address its origin's, of a DID that of its service. */
export async function peerAddress(url: string, resolver: Resolver): Promise<string> {
  return checkedUrl(/^did:/i.test(url) ? await serviceOf(url, resolver) : url);
}

/**
 * The first service of the DID document that can be called. The user chose the DID, so the document may be anywhere; what it names
 * is checked as an address from a document.
 */
async function serviceOf(did: string, resolver: Resolver): Promise<string> {
  const { document, from = "public" } = await resolver.resolve(did, new CancelSource());
  if (document.deactivated) {
    const next = document.successor === undefined ? "" : `; its document names ${document.successor} as its successor`;
    throw new AgentError("bad_peer", `${did.slice(0, 200)} is deactivated${next}`, { field: "url", sent: "no" });
  }
  const callable = document.services.find(({ url }) => URL.canParse(url) && SCHEMES.has(new URL(url).protocol));
  if (callable === undefined)
    throw new AgentError(
      "bad_peer",
      `the DID document of ${did.slice(0, 200)} names no service with an address that can be called`,
      { sent: "no" },
    );
  await guardUrl(httpAddress(callable.url), { from, resolve: resolveByDns });
  return callable.url;
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
