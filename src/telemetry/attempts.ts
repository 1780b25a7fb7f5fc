import type { Cancel, Maybe, Operation } from "../envelope/index.js";
import type { HttpRequest } from "../transport/exchange.js";

/** One attempt of a call, as the transport sees it. */
export interface Attempt {
  readonly operation: Operation;
  readonly traceId: Maybe<string>;
  /** True for a retry: its bytes count as overhead. */
  readonly repeats: boolean;
}

/**
 * Maps a request to the call attempt it belongs to. The layer above the protocol client and the link below it share only the
 * cancel: a protocol client passes `call.cancel` on as `request.cancel`, and each attempt has its own.
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

  /** Reads the request's cancel only when some attempt is registered: creating it has a cost. */
  of(request: HttpRequest): Maybe<Attempt> {
    return this.#open === 0 ? undefined : this.#byCancel.get(request.cancel);
  }
}
