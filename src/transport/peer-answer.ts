import { AgentError } from "../envelope/index.js";
import { type HttpResponse, isStream } from "./exchange.js";
import { readJson } from "./json.js";
import { DEFAULT_LIMITS } from "./limits.js";

/** The body of a whole response as JSON, or a complaint about the peer that says what came instead. */
export function jsonBody(response: HttpResponse): unknown {
  const { body } = response;
  if (isStream(body)) {
    void body[Symbol.asyncIterator]().return?.();
    throw badPeer(response, "a stream came where one answer was expected");
  }
  if (body === undefined || body.length === 0) return undefined;
  try {
    return readJson(typeof body === "string" ? new TextEncoder().encode(body) : body, DEFAULT_LIMITS.jsonDepth);
  } catch (thrown) {
    const error = AgentError.from(thrown);
    throw badPeer(
      response,
      error.code === "too_large"
        ? error.message
        : `the answer is not JSON (${response.headers["content-type"] ?? "no content type"})`,
      thrown,
    );
  }
}

export function badPeer(response: HttpResponse, problem: string, cause?: unknown): AgentError {
  return new AgentError("bad_peer", `HTTP ${response.status}: ${problem}`, { status: response.status, sent: "maybe", cause });
}

/** A redirect is an address somebody else chose; it is never followed, and an agent has no business sending one. */
export function refuseRedirect(response: HttpResponse): void {
  if (response.status >= 300 && response.status < 400) throw badPeer(response, "it redirects, and redirects are not followed");
}
