import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { ByteCollector, wholeBody } from "../body.js";
import { abandon, decideUpgrade } from "../decide-upgrade.js";
import { type Chunk, type HttpResponse, isStream, type Upgraded } from "../exchange.js";
import { isRefusal } from "../intake.js";
import { refuseFailed } from "../refusal.js";
import { errorResponse } from "../response.js";
import type { HttpHandler } from "./http-handler.js";
import type { IncomingRequest } from "./incoming-request.js";
import { writeRawResponse } from "./raw-response.js";
import type { SessionAcceptor } from "./session-acceptor.js";

/** What a peer may send before it has its response, which RFC 6455 §4.1 forbids; more is not read. */
const EARLY_BYTES = 64 * 1024;

export interface UpgradeStart {
  readonly handler: HttpHandler;
  readonly acceptor: SessionAcceptor;
  readonly req: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that followed the request. */
  readonly head: Buffer;
  readonly incoming: IncomingRequest;
}

/** One upgrade request until it is accepted, refused or its peer has disconnected. */
export class PendingUpgrade {
  readonly #start: UpgradeStart;
  readonly #early = new ByteCollector(EARLY_BYTES);
  #withdraw: ((reason: AgentError) => void) | undefined;
  #onSettled: () => void = ignore;

  constructor(start: UpgradeStart) {
    this.#start = start;
    this.#onData(start.head);
  }

  /** Asks the server. `settled` is called when this upgrade needs nothing more. */
  begin(settled: () => void): void {
    const { handler, incoming } = this.#start;
    this.#onSettled = settled;
    this.#watch();
    this.#withdraw = decideUpgrade({
      intake: handler.intake,
      head: incoming,
      limits: handler.limits,
      cancel: (reason) => incoming.peerDisconnected(reason),
      decided: (answer) => {
        this.#settle();
        if (isRefusal(answer)) this.refuse(answer);
        else this.#accept(answer);
      },
      onError: (thrown) => handler.report(thrown),
    });
  }

  /** Refuses without waiting for the decision. */
  withdraw(reason: AgentError): void {
    this.#withdraw?.(reason);
    this.#settle();
    this.refuse(errorResponse(503, reason));
  }

  refuse(response: HttpResponse): void {
    if (isStream(response.body)) void this.#refuseWithStream(response);
    else this.#write(response, response.body);
  }

  async #refuseWithStream(response: HttpResponse): Promise<void> {
    try {
      this.#write(response, await wholeBody(response.body, this.#start.handler.limits.bodyBytes));
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #write(response: HttpResponse, body: Maybe<Chunk>): void {
    try {
      writeRawResponse(this.#start.socket, response, body);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #fail(thrown: unknown): void {
    this.#start.handler.report(thrown);
    const failed = refuseFailed();
    writeRawResponse(this.#start.socket, failed, String(failed.body));
  }

  #accept(upgraded: Upgraded): void {
    const { acceptor, socket, handler } = this.#start;
    const onError = (thrown: unknown): void => handler.report(thrown);
    // Paused: the session reads once it is observed.
    socket.pause();
    try {
      if (!acceptor.accept(this.#start, this.#early.whole(), upgraded)) abandon(upgraded, onError);
    } catch (thrown) {
      abandon(upgraded, onError);
      this.#fail(thrown);
    }
  }

  /** A socket that nobody reads does not tell that its peer is gone. */
  #watch(): void {
    const { socket } = this.#start;
    socket.on("data", this.#onData).on("end", this.#onGone).on("close", this.#onGone);
  }

  #settle(): void {
    const { socket } = this.#start;
    socket.off("data", this.#onData).off("end", this.#onGone).off("close", this.#onGone);
    this.#onSettled();
  }

  readonly #onData = (piece: Buffer): void => {
    if (this.#early.add(piece)) return;
    const { socket } = this.#start;
    socket.pause();
    socket.unshift(piece);
  };

  readonly #onGone = (): void => {
    this.#settle();
    this.#withdraw?.(new AgentError("cancelled", "the caller disconnected"));
    this.#start.socket.destroy();
  };
}

function ignore(): void {}
