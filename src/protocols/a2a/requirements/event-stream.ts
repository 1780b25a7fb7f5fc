import { isEventStream } from "../../../transport/body.js";
import { type OpenResponse, type RawResponse, whole } from "../../ask.js";
import { demand, show } from "../../check.js";
import { readFrames } from "../../frames.js";
import type { Answer, Streaming } from "./wire.js";
import { resultOf } from "./wire-errors.js";

/** Reads a response as server-sent events, each decoded like a unary response. Another media type is not a stream. */
export async function listenToEvents(opened: OpenResponse, read: (got: RawResponse) => Answer): Promise<Streaming> {
  const plain = isEventStream(opened.headers["content-type"]) ? undefined : read(await whole(opened));
  return { plain, results: results(opened, read) };
}

async function* results(opened: OpenResponse, read: (got: RawResponse) => Answer): AsyncGenerator<unknown> {
  const { status, headers } = opened;
  for await (const frame of readFrames(opened.chunks)) {
    const json = parse(frame.data);
    demand(frame.event !== "error", `the stream reports an error: ${show(json)}`);
    yield resultOf(read({ status, headers, text: frame.data, bytes: new Uint8Array(0), json, trailers: {} }));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`an event's data is not JSON: ${show(text)}`);
  }
}
