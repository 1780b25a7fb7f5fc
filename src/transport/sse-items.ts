import { AgentError, type Cursor, type Maybe } from "../envelope/index.js";
import { type Chunk, type HttpResponse, isStream } from "./exchange.js";
import { readJsonText } from "./json.js";
import type { Limits } from "./limits.js";
import type { StreamItem } from "./peer-events.js";
import { type SseEvent, SseReader } from "./sse.js";

/** The item after the last event of a stream that was not cut. */
export const END_OF_STREAM = Symbol("end of stream");

const utf8 = new TextEncoder();

/** The events of a protocol whose streams end with the response: their JSON, then `END_OF_STREAM`. A cut response throws. */
export async function* sseItems(
  { body }: HttpResponse,
  limits: Pick<Limits, "sseEventBytes" | "jsonDepth" | "jsonValues">,
): AsyncGenerator<StreamItem, void, void> {
  const reader = new SseReader(limits.sseEventBytes);
  const waiting: SseEvent[] = [];
  const chunks: AsyncIterable<Chunk> | readonly Chunk[] = isStream(body) ? body : [body ?? ""];
  for await (const chunk of chunks) {
    reader.push(typeof chunk === "string" ? utf8.encode(chunk) : chunk, (event) => void waiting.push(event));
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield itemOf(event, limits);
  }
  yield { item: END_OF_STREAM, cursor: undefined };
}

function itemOf({ data, id }: SseEvent, limits: Pick<Limits, "jsonDepth" | "jsonValues">): StreamItem {
  try {
    // The peer's own opaque cursor: sending it back resumes the stream if the peer supports it.
    return { item: readJsonText(data, limits), cursor: id === "" ? undefined : (id as Maybe<Cursor>) };
  } catch (thrown) {
    throw new AgentError("bad_peer", `an event of the stream is invalid: ${AgentError.from(thrown).message}`, { cause: thrown });
  }
}
