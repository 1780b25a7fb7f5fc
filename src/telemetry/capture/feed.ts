import type { HttpResponse } from "../../transport/exchange.js";
import { encodeSse, SSE_COMMENT } from "../../transport/sse.js";
import type { CapturedMessage, CapturedMessageSummary, CaptureFeed, CaptureFilter, CaptureLog } from "./captured-message.js";

export interface FeedOptions {
  readonly filter: CaptureFilter;
  /** The place behind which it begins; 0: from now on. */
  readonly after: number;
  /** Whole sightings instead of summaries. */
  readonly whole: boolean;
  readonly signal: AbortSignal;
}

const HEADERS = Object.freeze({ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" });
const KEEP_ALIVE_MS = 15_000;

/** The log as server-sent events: `message` for each that is new or changed, `gap` where some were forgotten unseen. */
export function feed(log: CaptureLog, options: FeedOptions): HttpResponse {
  // Asked before the head is sent: a reader too many must hear it as a status.
  const sightings = log.follow(options.filter, options.after, options.signal);
  return {
    status: 200,
    headers: HEADERS,
    body: written(sightings, options.whole),
    idle: { chunk: SSE_COMMENT, everyMs: KEEP_ALIVE_MS },
  };
}

async function* written(sightings: CaptureFeed, whole: boolean): AsyncGenerator<string, void, void> {
  let told = 0;
  const gap = (): string => {
    const { missed = 0 } = sightings;
    if (missed <= told) return "";
    told = missed;
    return encodeSse(JSON.stringify({ missed }), undefined, "gap");
  };
  // The head goes out at once, so that a reader knows it is connected although nothing happens.
  yield SSE_COMMENT + gap();
  for await (const sighting of sightings) {
    yield gap() + encodeSse(JSON.stringify(whole ? sighting : summaryOf(sighting)), String(sighting.seq), "message");
  }
}

/** What lists carry of it. */
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
