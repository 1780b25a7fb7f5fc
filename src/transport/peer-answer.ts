import { AgentError } from "../envelope/index.js";
import { type HttpResponse, isStream } from "./exchange.js";
import { readJson } from "./json.js";
import { DEFAULT_LIMITS } from "./limits.js";

/** The complete response body as JSON. Throws `bad_peer` with what was received instead. */
export function jsonBody(response: HttpResponse): unknown {
  const { body } = response;
  if (isStream(body)) {
    void body[Symbol.asyncIterator]().return?.();
    throw badPeer(response, "expected a single response but received a stream");
  }
  if (body === undefined || body.length === 0) return undefined;
  try {
    return readJson(typeof body === "string" ? new TextEncoder().encode(body) : body, response.jsonLimits ?? DEFAULT_LIMITS);
  } catch (thrown) {
    const error = AgentError.from(thrown);
    throw badPeer(
      response,
      error.code === "too_large"
        ? error.message
        : `the response is not JSON (${response.headers["content-type"] ?? "no content type"})`,
      thrown,
    );
  }
}

export function badPeer(response: HttpResponse, problem: string, cause?: unknown): AgentError {
  return new AgentError("bad_peer", `HTTP ${response.status}: ${problem}`, { status: response.status, sent: "maybe", cause });
}

/** Redirects are never followed: their target was not chosen by the user. */
export function refuseRedirect(response: HttpResponse): void {
  if (response.status >= 300 && response.status < 400) throw badPeer(response, "redirects are not followed");
}
