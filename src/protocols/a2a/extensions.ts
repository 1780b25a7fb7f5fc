import { AgentError, type Card, type Head, type Maybe, NO_HEAD } from "../../envelope/index.js";
import type { Request } from "../../transport/exchange.js";

/** `A2A-Extensions` in 1.0, `X-A2A-Extensions` in 0.3; we read either. */
function requestedExtensions(request: Request): readonly string[] {
  const header = request.headers["a2a-extensions"] ?? request.headers["x-a2a-extensions"];
  if (header === undefined) return [];
  return header
    .split(",")
    .map((uri) => uri.trim())
    .filter((uri) => uri !== "");
}

/**
 * What the call carries beside its operation, under the neutral names every protocol uses: the extensions that are active,
 * the tenant, and the trace. Unknown extensions are ignored; a required one that was not asked for is refused (§3.2.6, §4.6).
 */
export function callParameters(request: Request, card: Card, tenant: Maybe<string>): Head {
  const offered = card.capabilities.extensions;
  const { traceparent, tracestate } = request.headers;
  if (offered.length === 0 && tenant === undefined && traceparent === undefined) return NO_HEAD;
  const asked = offered.length === 0 ? [] : requestedExtensions(request);
  const missing = offered.find(({ uri, required }) => required && !asked.includes(uri));
  if (missing !== undefined) {
    throw new AgentError("extension_required", `the extension ${missing.uri} is required; name it in A2A-Extensions`, {
      detail: { extension: missing.uri },
    });
  }
  const active = offered.filter(({ uri }) => asked.includes(uri)).map(({ uri }) => uri);
  const parameters: Record<string, string> = {};
  if (active.length > 0) parameters["extensions"] = active.join(", ");
  if (tenant !== undefined) parameters["tenant"] = tenant;
  if (traceparent !== undefined) parameters["traceparent"] = traceparent;
  if (traceparent !== undefined && tracestate !== undefined) parameters["tracestate"] = tracestate;
  return parameters;
}

/** What the answer says about extensions, in the header of the version that was spoken. */
export function extensionHeaders(parameters: Head, version: "1.0" | "0.3"): Maybe<{ readonly [name: string]: string }> {
  const active = parameters["extensions"];
  if (active === undefined) return undefined;
  return { [version === "1.0" ? "a2a-extensions" : "x-a2a-extensions"]: active };
}
