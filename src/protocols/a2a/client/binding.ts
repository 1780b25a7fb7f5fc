import { AgentError, type Call, type JsonObject, type Operation } from "../../../envelope/index.js";
import { isStream, type Request, type Response } from "../../../transport/exchange.js";
import { readJson } from "../../../transport/json.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import type { Peer } from "../../protocol.js";
import type { OperationName } from "../operations.js";

/** One operation on its way out, encoded by the dialect. */
export interface Outgoing {
  readonly peer: Peer;
  readonly operation: Operation;
  readonly call: Call;
  readonly streaming: boolean;
  readonly name: OperationName;
  readonly params: JsonObject;
  /** A fresh id, for bindings that number their requests. */
  readonly id: string;
}

/** How one binding puts an operation into a request and takes the result out of a response. */
export interface ClientBinding {
  readonly name: "JSONRPC" | "HTTP+JSON";
  write(outgoing: Outgoing): Request;
  /** The result of a one-answer response; throws the peer's own error. */
  readResult(response: Response, outgoing: Outgoing): unknown;
  /** The item inside one event of a stream; throws the peer's own error. */
  readItem(data: unknown, outgoing: Outgoing): unknown;
}

/** The headers every request carries: version, extensions, trace, and where to take up a stream again. */
export function commonHeaders({ peer, operation, call, streaming }: Outgoing): Record<string, string> {
  const headers: Record<string, string> = { accept: streaming ? "text/event-stream, application/json" : "application/json" };
  if (peer.version !== "0.3") headers["a2a-version"] = peer.version;
  const { traceparent, tracestate, extensions } = call.parameters;
  if (traceparent !== undefined) headers["traceparent"] = traceparent;
  if (tracestate !== undefined) headers["tracestate"] = tracestate;
  const wanted = extensions ?? (operation.kind === "send" ? operation.envelope.extensions?.join(", ") : undefined);
  if (wanted !== undefined && wanted !== "") headers[peer.version === "0.3" ? "x-a2a-extensions" : "a2a-extensions"] = wanted;
  if (operation.kind === "task.subscribe" && operation.after !== undefined) headers["last-event-id"] = operation.after;
  if (operation.kind === "send" && operation.envelope.context.idempotencyKey !== undefined) {
    headers["idempotency-key"] = operation.envelope.context.idempotencyKey;
  }
  return headers;
}

/** The body of a whole response as JSON, or a complaint about the peer that says what came instead. */
export function jsonBody(response: Response): unknown {
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

export function badPeer(response: Response, problem: string, cause?: unknown): AgentError {
  return new AgentError("bad_peer", `HTTP ${response.status}: ${problem}`, { status: response.status, sent: "maybe", cause });
}

/** A redirect is an address somebody else chose; it is never followed, and an agent has no business sending one. */
export function refuseRedirect(response: Response): void {
  if (response.status >= 300 && response.status < 400) throw badPeer(response, "it redirects, and redirects are not followed");
}
