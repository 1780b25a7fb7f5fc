import type { IncomingMessage, ServerResponse } from "node:http";
import { AgentError } from "../../envelope/index.js";
import { ByteCollector } from "../body.js";
import { type Chunk, type Exchange, isStream, type Response } from "../exchange.js";
import type { Limits } from "../limits.js";
import { bodyTooLarge, refuseCrowded, refuseFailed, refuseOverloaded, refuseTooLarge } from "../refusal.js";
import { answerUnread } from "../unread.js";
import { type Address, Incoming } from "./incoming.js";
import { type Live, track, untrack } from "./live-passages.js";
import { refuseEarly } from "./refuse-early.js";
import { StreamWriter } from "./stream-writer.js";
import { flatHeaders, writeWhole } from "./write-response.js";

/** What all passages through one door share. */
export interface Doorway {
  readonly exchange: Exchange;
  readonly limits: Limits;
  /** Set at shutdown: answers from then on close their connection. */
  readonly closing: boolean;
  openStreams: number;
  report(thrown: unknown): void;
}

const NO_BODY = new Uint8Array(0);
const PASSAGE = Symbol("passage");
type Carrier = IncomingMessage & { [PASSAGE]?: Passage };

/** One request on its way in and its answer on the way out. */
export class Passage implements Live {
  readonly #door: Doorway;
  readonly #req: Carrier;
  readonly #res: ServerResponse;
  readonly #address: Address;
  #collected: ByteCollector | undefined;
  #incoming: Incoming | undefined;
  #writer: StreamWriter | undefined;
  #gone = false;

  constructor(door: Doorway, req: IncomingMessage, res: ServerResponse, address: Address) {
    this.#door = door;
    this.#req = req;
    this.#res = res;
    this.#address = address;
  }

  /** Reads the body, then begins. Listeners without closures: this runs for every request. */
  collect(): void {
    this.#req[PASSAGE] = this;
    this.#collected = new ByteCollector(this.#door.limits.bodyBytes);
    this.#req.on("data", onData).on("end", onEnd);
  }

  take(piece: Buffer): void {
    if (this.#collected?.add(piece) !== false) return;
    this.#collected = undefined;
    this.#req.off("data", onData).off("end", onEnd);
    this.refuseTooLarge();
  }

  /** The body is longer than we read. Said in the form of the protocol that was addressed. */
  refuseTooLarge(): void {
    const { exchange, limits } = this.#door;
    const request = new Incoming(this.#req, this.#address, NO_BODY, limits.jsonDepth);
    const { bodyBytes } = limits;
    void answerUnread(exchange, request, bodyTooLarge(bodyBytes), refuseTooLarge(bodyBytes)).then((response) => {
      if (!this.#res.destroyed) refuseEarly(this.#req, this.#res, response);
    });
  }

  complete(): void {
    const collected = this.#collected;
    this.#collected = undefined;
    if (collected !== undefined) this.begin(collected.whole());
  }

  begin(body: Uint8Array): void {
    if (!track(this.#req.socket, this)) {
      writeWhole(this.#res, refuseCrowded(), true);
      return;
    }
    const incoming = new Incoming(this.#req, this.#address, body, this.#door.limits.jsonDepth);
    this.#incoming = incoming;
    let answer: Response | Promise<Response>;
    try {
      answer = this.#door.exchange(incoming);
    } catch (thrown) {
      this.#failed(thrown);
      return;
    }
    if (answer instanceof Promise) {
      answer.then(
        // A stream has its first event already, and more will follow at their own times.
        (response) => (isStream(response.body) ? this.respond(response) : respondSoon(this, response)),
        (thrown: unknown) => this.#failed(thrown),
      );
    } else this.respond(answer);
  }

  /** The socket closed. */
  hangUp(): void {
    this.#gone = true;
    this.#writer?.cut();
    this.#incoming?.hangUp(new AgentError("cancelled", "the caller hung up"));
  }

  respond(response: Response): void {
    const { body } = response;
    if (this.#gone || this.#res.destroyed) {
      discard(body);
      this.#leave();
      return;
    }
    try {
      if (isStream(body)) this.#stream(response, body);
      else {
        writeWhole(this.#res, response, this.#door.closing);
        this.#leave();
      }
    } catch (thrown) {
      discard(body);
      this.#failed(thrown);
    }
  }

  #stream(response: Response, body: AsyncIterable<Chunk>): void {
    const door = this.#door;
    if (this.#req.method === "HEAD") {
      discard(body);
      this.#res.writeHead(response.status, flatHeaders(response.headers, door.closing)).end();
      this.#leave();
    } else if (door.openStreams >= door.limits.openStreams) {
      discard(body);
      this.#incoming?.hangUp(new AgentError("overloaded", "too many streams are open"));
      this.respond(refuseOverloaded());
    } else {
      const done = (): void => {
        door.openStreams--;
        this.#leave();
      };
      const end = { done, failed: (thrown: unknown) => door.report(thrown) };
      const writer = new StreamWriter(this.#res, response, body, { stallMs: door.limits.writeStallMs, end });
      writer.start(door.closing);
      door.openStreams++;
      this.#writer = writer;
    }
  }

  #failed(thrown: unknown): void {
    this.#door.report(thrown);
    if (!this.#gone && !this.#res.destroyed) {
      if (this.#res.headersSent) this.#res.destroy();
      else writeWhole(this.#res, refuseFailed(), this.#door.closing);
    }
    this.#leave();
  }

  #leave(): void {
    untrack(this.#req.socket, this);
  }
}

const answered: { readonly passage: Passage; readonly response: Response }[] = [];

/**
 * Answers that are ready in one turn of the event loop leave together at its end. Writing each at once wakes the peer each
 * time, lets it fall asleep again, and costs more than the answer itself; alone, an answer waits for nothing but this turn.
 */
function respondSoon(passage: Passage, response: Response): void {
  if (answered.push({ passage, response }) === 1) setImmediate(respondAll);
}

function respondAll(): void {
  for (const { passage, response } of answered.splice(0)) passage.respond(response);
}

function onData(this: Carrier, piece: Buffer): void {
  this[PASSAGE]?.take(piece);
}

function onEnd(this: Carrier): void {
  this[PASSAGE]?.complete();
}

/** An answer nobody will read. */
function discard(body: Response["body"]): void {
  if (!isStream(body)) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
