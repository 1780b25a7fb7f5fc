import type { AgentError } from "../envelope/index.js";
import { type Exchange, type HttpResponse, isStream, type UnreadRequest } from "./exchange.js";

/**
 * The response to a request whose body is refused unread. The exchange still runs, so that the refusal has the format of the addressed
 * protocol; reading the body throws the reason. `fallback` is the response if the exchange fails.
 */
export async function respondUnread(
  exchange: Exchange,
  request: UnreadRequest,
  reason: AgentError,
  fallback: HttpResponse,
): Promise<HttpResponse> {
  try {
    const response = await exchange(request.refuseBody(reason));
    const { status, headers, body } = response;
    if (isStream(body)) {
      await body[Symbol.asyncIterator]().return?.();
      return fallback;
    }
    // If nothing read the body, the response stands. JSON-RPC sends errors with status 200.
    return request.bodyWanted && status < 400
      ? { status: fallback.status, headers: { ...retryAfter(fallback), ...headers }, body }
      : response;
  } catch {
    return fallback;
  }
}

/** The time after which to try again, which some protocols have no place for in their errors. */
export function retryAfter({ headers }: HttpResponse): HttpResponse["headers"] {
  const seconds = headers["retry-after"];
  return seconds === undefined ? {} : { "retry-after": seconds };
}
