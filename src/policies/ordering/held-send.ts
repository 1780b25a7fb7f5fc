import type { AgentError, Reply } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { tooLate } from "../refused-turn.js";
import { type LaterReply, laterReply } from "../replies/later-reply.js";
import { type Beginning, beginSend, type Send } from "./begun-send.js";

const nothing = (): void => undefined;

/**
 * A message that waits for its turn while its caller already has the reply. The wait ends with the turn, with the call's
 * cancel or deadline, or when the reader of a stream leaves; then no timer and no listener is left. Only for calls that
 * `cannotWait` has nothing against.
 */
export class HeldSend {
  readonly send: Send;
  readonly #later: LaterReply;
  readonly #left: () => void;
  readonly #letGo: () => void;
  #waiting = true;

  /** `left` is told when the message will not need its turn any more. */
  constructor(send: Send, clock: Clock, left: () => void) {
    this.send = send;
    this.#left = left;
    this.#later = laterReply(send.operation, () => this.#leave());
    const { cancel, deadline } = send.call;
    const forget = cancel.onCancel((reason) => this.#leave(reason));
    const takeBack = deadline === undefined ? nothing : clock.after(deadline - clock.now(), () => this.#leave(tooLate()));
    this.#letGo = () => {
      forget();
      takeBack();
    };
  }

  get reply(): Reply {
    return this.#later.reply;
  }

  /** Its turn has come. */
  begin(began: (how: Beginning) => void): void {
    this.#end();
    this.#later.begin(() => beginSend(this.send, began));
  }

  #leave(error?: AgentError): void {
    if (!this.#waiting) return;
    this.#end();
    if (error !== undefined) this.#later.fail(error);
    this.#left();
  }

  #end(): void {
    this.#waiting = false;
    this.#letGo();
  }
}
