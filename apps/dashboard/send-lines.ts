import { AgentError, type Json } from "../../src/index.js";
import type { HttpRequest, HttpResponse } from "../../src/public/protocols.js";
import type { Console, PageMessage } from "./console.js";
import { KEEP_ALIVE_MS } from "./state-feed.js";

/** Messages of the page that are being answered at one time. */
const SENDS_AT_ONCE = 16;
/** One message typed by hand, in bytes. */
const MESSAGE_BYTES = 256 * 1024;

type Sender = NonNullable<Console["send"]>;

/** Sends what the page says, and gives the answer back as JSON lines: `{"event": …}` each, or one last `{"error": …}`. */
export function sendLines(send: Sender): (request: HttpRequest) => HttpResponse {
  const desk = { underWay: 0 };
  return (request) => {
    const message = readMessage(request);
    if (desk.underWay >= SENDS_AT_ONCE)
      throw new AgentError("overloaded", `${SENDS_AT_ONCE} messages of this page are being answered already`);
    const stop = new AbortController();
    request.cancel.onCancel((reason) => stop.abort(reason));
    return {
      status: 200,
      headers: { "content-type": "application/x-ndjson", "cache-control": "no-store", "x-accel-buffering": "no" },
      body: lines(send(message, stop.signal), stop, desk),
      idle: { chunk: "\n", everyMs: KEEP_ALIVE_MS },
    };
  };
}

/** Counted only once it is asked for: an answer that is let go of before never ends either. */
async function* lines(
  events: AsyncIterable<Json>,
  stop: AbortController,
  desk: { underWay: number },
): AsyncGenerator<string, void, void> {
  desk.underWay++;
  try {
    for await (const event of events) yield `${JSON.stringify({ event })}\n`;
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    yield `${JSON.stringify({ error: { code, message } })}\n`;
  } finally {
    stop.abort(new AgentError("cancelled", "the page no longer listens"));
    desk.underWay--;
  }
}

function readMessage(request: HttpRequest): PageMessage {
  if (request.body.length > MESSAGE_BYTES)
    throw new AgentError("too_large", `a message of the page has at most ${MESSAGE_BYTES} bytes`);
  const body = request.json();
  if (typeof body !== "object" || body === null) throw new AgentError("invalid_message", "the body must be an object");
  const { node, way, text, stream } = body as { readonly [name: string]: unknown }; // each member is checked below
  if (typeof node !== "string" || typeof way !== "string" || typeof text !== "string" || typeof stream !== "boolean")
    throw new AgentError("invalid_message", "node, way and text must be strings, stream must be true or false");
  if (text.trim() === "") throw new AgentError("invalid_message", "there is nothing to say", { field: "text" });
  return { node, way, text, stream };
}
