import type { Cancel, Maybe, Operation } from "../envelope/index.js";
import type { HttpRequest } from "../transport/exchange.js";

/** One try of one call, as the wire sees it. */
export interface Attempt {
  readonly operation: Operation;
  readonly traceId: Maybe<string>;
  /** It repeats an earlier one: its bytes are overhead. */
  readonly repeats: boolean;
}

/**
 * Tells the link which call a request belongs to. The layer above the client half and the link below it share nothing
 * but the cancel: a client half hands `call.cancel` on as `request.cancel`, and each try has its own.
 */
export class Attempts {
  readonly #byCancel = new WeakMap<Cancel, Attempt>();
  #open = 0;

  begin(cancel: Cancel, attempt: Attempt): void {
    this.#byCancel.set(cancel, attempt);
    this.#open++;
  }

  end(cancel: Cancel): void {
    if (this.#byCancel.delete(cancel)) this.#open--;
  }

  /** Asks for the request's cancel only when some try is marked: most requests have made none yet. */
  of(request: HttpRequest): Maybe<Attempt> {
    return this.#open === 0 ? undefined : this.#byCancel.get(request.cancel);
  }
}
