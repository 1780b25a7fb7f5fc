import type { HttpResponse } from "../../transport/exchange.js";
import { encodeSse, SSE_COMMENT } from "../../transport/sse.js";
import type { CapturedMessage, CapturedMessageSummary, CaptureFeed, CaptureFilter, CaptureLog } from "./captured-message.js";

export interface FeedOptions {
  readonly filter: CaptureFilter;
  /** Start after this `seq`; 0: from now on. */
  readonly after: number;
  /** Complete messages instead of summaries. */
  readonly whole: boolean;
  readonly signal: AbortSignal;
}

const HEADERS = Object.freeze({ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" });
const KEEP_ALIVE_MS = 15_000;

/** The log as server-sent events: `message` for each new or changed message, `gap` when messages were evicted unread. */
export function feed(log: CaptureLog, options: FeedOptions): HttpResponse {
  // Before the response head is sent, so that too many readers is reported as a status.
  const messages = log.follow(options.filter, options.after, options.signal);
  return {
    status: 200,
    headers: HEADERS,
    body: encodeFeed(messages, options.whole),
    idle: { chunk: SSE_COMMENT, everyMs: KEEP_ALIVE_MS },
  };
}

async function* encodeFeed(messages: CaptureFeed, whole: boolean): AsyncGenerator<string, void, void> {
  let reported = 0;
  const gap = (): string => {
    const { missed = 0 } = messages;
    if (missed <= reported) return "";
    reported = missed;
    return encodeSse(JSON.stringify({ missed }), undefined, "gap");
  };
  // Sends the head immediately: the reader sees that it is connected before the first message.
  yield SSE_COMMENT + gap();
  for await (const message of messages) {
    yield gap() + encodeSse(JSON.stringify(whole ? message : summaryOf(message)), String(message.seq), "message");
  }
}

/** The part of a message that lists carry. */
export function summaryOf({
  request,
  response,
  envelope: _envelope,
  answer: _answer,
  events,
  ...rest
}: CapturedMessage): CapturedMessageSummary {
  return { ...rest, eventCount: events.length, requestBytes: request?.bytes ?? 0, responseBytes: response?.bytes ?? 0 };
}
