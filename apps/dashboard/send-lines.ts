import { AgentError, type Json } from "../../src/index.js";
import type { HttpRequest, HttpResponse } from "../../src/public/protocols.js";
import type { Console, PageMessage } from "./console.js";
import { KEEP_ALIVE_MS } from "./state-feed.js";

/** Limit of concurrent messages from pages. */
const SENDS_AT_ONCE = 16;
/** Size limit of one message. */
const MESSAGE_BYTES = 64 * 1024;

type Sender = NonNullable<Console["send"]>;

/** Sends a message from the page and streams the response as JSON lines: `{"event": …}`, or a last `{"error": …}`. */
export function sendLines(send: Sender): (request: HttpRequest) => HttpResponse {
  const active = { count: 0 };
  return (request) => {
    const message = readMessage(request);
    if (active.count >= SENDS_AT_ONCE)
      throw new AgentError("overloaded", `${SENDS_AT_ONCE} messages are already in progress; retry later`);
    const stop = new AbortController();
    request.cancel.onCancel((reason) => stop.abort(reason));
    return {
      status: 200,
      headers: { "content-type": "application/x-ndjson", "cache-control": "no-store", "x-accel-buffering": "no" },
      body: lines(send(message, stop.signal), stop, active),
      idle: { chunk: "\n", everyMs: KEEP_ALIVE_MS },
    };
  };
}

/** Counted only once it is read: a response that is dropped before never ends. */
async function* lines(
  events: AsyncIterable<Json>,
  stop: AbortController,
  active: { count: number },
): AsyncGenerator<string, void, void> {
  active.count++;
  try {
    for await (const event of events) yield `${JSON.stringify({ event })}\n`;
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    yield `${JSON.stringify({ error: { code, message } })}\n`;
  } finally {
    stop.abort(new AgentError("cancelled", "The page closed the connection"));
    active.count--;
  }
}

function readMessage(request: HttpRequest): PageMessage {
  if (request.body.length > MESSAGE_BYTES) throw new AgentError("too_large", `The message is larger than ${MESSAGE_BYTES} bytes`);
  const body = request.json();
  if (typeof body !== "object" || body === null) throw new AgentError("invalid_message", "The body must be an object");
  const { node, way, text, stream } = body as { readonly [name: string]: unknown }; // each member is checked below
  if (typeof node !== "string" || typeof way !== "string" || typeof text !== "string" || typeof stream !== "boolean")
    throw new AgentError("invalid_message", "node, way and text must be strings, stream must be true or false");
  if (text.trim() === "") throw new AgentError("invalid_message", "The text must not be empty", { field: "text" });
  return { node, way, text, stream };
}
