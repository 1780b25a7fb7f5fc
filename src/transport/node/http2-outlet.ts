import type { ServerHttp2Stream } from "node:http2";
import type { Maybe } from "../../envelope/index.js";
import type { Chunk, Response } from "../exchange.js";
import { addFields } from "./http2-fields.js";
import type { Outlet, OutletEvents } from "./outlet.js";

/** Chunks of an HTTP/2 answer. */
export class Http2Outlet implements Outlet {
  readonly #stream: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  open(response: Response, events: OutletEvents): void {
    const stream = this.#stream;
    const waitForTrailers = response.trailers !== undefined;
    stream.respond(addFields({ ":status": response.status }, response.headers), { waitForTrailers });
    stream.on("drain", () => events.drained());
    stream.on("timeout", () => events.broken());
  }

  write(chunk: Chunk): boolean {
    return this.#stream.write(chunk);
  }

  get full(): boolean {
    return this.#stream.writableNeedDrain;
  }

  /** The stream's own timer counts bytes that the peer takes as progress. */
  watchStall(stallMs: number): void {
    this.#stream.setTimeout(stallMs);
  }

  unwatchStall(): void {
    this.#stream.setTimeout(0);
  }

  end(trailers: Maybe<{ readonly [name: string]: string }>): void {
    if (trailers !== undefined) sendTrailers(this.#stream, trailers);
    this.#stream.end();
  }

  cut(): void {
    // What was written leaves at the end of this turn; a reset would throw it away.
    setImmediate(() => resetStream(this.#stream));
  }
}

/** Says what follows the body, once the body has left. Throws at once for values that are not HTTP. */
export function sendTrailers(stream: ServerHttp2Stream, trailers: { readonly [name: string]: string }): void {
  const fields = addFields({}, trailers);
  stream.once("wantTrailers", () => stream.sendTrailers(fields));
}

/** Ends a stream with INTERNAL_ERROR. Closing it with that code instead would end its body normally first. */
export function resetStream(stream: ServerHttp2Stream): void {
  stream.destroy(new Error("the answer failed"));
}
