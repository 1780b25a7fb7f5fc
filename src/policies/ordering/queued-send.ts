import type { AgentError, Reply } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { deadlinePassed } from "../queue-errors.js";
import { type DeferredReply, deferredReply } from "../replies/deferred-reply.js";
import { type Send, type StartOutcome, startSend } from "./start-send.js";

const nothing = (): void => undefined;

/**
 * A queued message whose caller already has the reply. The wait ends with the turn, with the call's
 * cancel or deadline, or when the reader of a stream leaves; then no timer and no listener is left. Only for calls that
 * `cannotWait` has nothing against.
 */
export class QueuedSend {
  readonly send: Send;
  readonly #deferred: DeferredReply;
  readonly #left: () => void;
  readonly #dispose: () => void;
  #waiting = true;

  /** `left` is called when the message no longer needs its turn. */
  constructor(send: Send, clock: Clock, left: () => void) {
    this.send = send;
    this.#left = left;
    this.#deferred = deferredReply(send.operation, () => this.#leave());
    const { cancel, deadline } = send.call;
    const forget = cancel.onCancel((reason) => this.#leave(reason));
    const cancelTimer =
      deadline === undefined ? nothing : clock.after(deadline - clock.now(), () => this.#leave(deadlinePassed()));
    this.#dispose = () => {
      forget();
      cancelTimer();
    };
  }

  get reply(): Reply {
    return this.#deferred.reply;
  }

  /** Its turn has come. */
  begin(onStarted: (how: StartOutcome) => void): void {
    this.#end();
    this.#deferred.begin(() => startSend(this.send, onStarted));
  }

  #leave(error?: AgentError): void {
    if (!this.#waiting) return;
    this.#end();
    if (error !== undefined) this.#deferred.fail(error);
    this.#left();
  }

  #end(): void {
    this.#waiting = false;
    this.#dispose();
  }
}
