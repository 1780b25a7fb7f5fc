import { AgentError, type Card, type Extension, type Head, type Maybe, NO_HEAD } from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { offeredExtensions } from "../card/card-1.0.js";

/** The extensions of a card, computed once per card. */
const offers = new WeakMap<Card, { readonly all: readonly Extension[]; readonly required: readonly Extension[] }>();

function offersOf(card: Card): { readonly all: readonly Extension[]; readonly required: readonly Extension[] } {
  let offered = offers.get(card);
  if (offered === undefined) {
    const all = offeredExtensions(card.capabilities);
    offered = { all, required: all.filter(({ required }) => required) };
    offers.set(card, offered);
  }
  return offered;
}

/**
 * The call metadata in protocol-neutral names: active extensions, tenant and trace. Unknown extensions are ignored; a missing
 * required one is rejected (§3.2.6, §4.6).
 */
export function callParameters(request: HttpRequest, card: Card, tenant: Maybe<string>): Head {
  const { headers } = request;
  const { traceparent, tracestate } = headers;
  // `A2A-Extensions` in 1.0, `X-A2A-Extensions` in 0.3; both are read.
  const header = headers["a2a-extensions"] ?? headers["x-a2a-extensions"];
  const { all, required } = offersOf(card);
  if (header === undefined && required.length === 0 && tenant === undefined && traceparent === undefined) return NO_HEAD;
  const requested = header?.split(",").map((uri) => uri.trim()) ?? [];
  const missing = required.find(({ uri }) => !requested.includes(uri));
  if (missing !== undefined) {
    throw new AgentError("extension_required", `the extension ${missing.uri} is required; name it in A2A-Extensions`, {
      detail: { extension: missing.uri },
    });
  }
  const active = all.filter(({ uri }) => requested.includes(uri)).map(({ uri }) => uri);
  const parameters: Record<string, string> = {};
  if (active.length > 0) parameters["extensions"] = active.join(", ");
  if (tenant !== undefined) parameters["tenant"] = tenant;
  if (traceparent !== undefined) parameters["traceparent"] = traceparent;
  if (traceparent !== undefined && tracestate !== undefined) parameters["tracestate"] = tracestate;
  return parameters;
}

/** The extensions header of the response, named as in the version of the request. */
export function extensionHeaders(parameters: Head, version: "1.0" | "0.3"): Maybe<{ readonly [name: string]: string }> {
  const active = parameters["extensions"];
  if (active === undefined) return undefined;
  return { [version === "1.0" ? "a2a-extensions" : "x-a2a-extensions"]: active };
}

/** Whether the caller requested this extension and the card offers it. */
export function isActive(parameters: Head, uri: string): boolean {
  return parameters["extensions"]?.split(", ").includes(uri) === true;
}
