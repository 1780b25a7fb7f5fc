import { AgentError } from "./error.js";

/** A cancellation signal: the caller left, or the work must stop. Cheaper than an AbortSignal, which costs microseconds per call. */
export interface Cancel {
  readonly cancelled: boolean;
  readonly reason: AgentError | undefined;
  cancel(reason: AgentError): void;
  /** Runs at most once; immediately if already cancelled. The returned function removes the listener. */
  onCancel(run: (reason: AgentError) => void): () => void;
}

const nothing = (): void => undefined;

type Listener = (reason: AgentError) => void;

/** Nearly every call has at most one listener, so the first needs no set. */
export class CancelSource implements Cancel {
  #reason: AgentError | undefined;
  #first: Listener | undefined;
  #more: Set<Listener> | undefined;

  get cancelled(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): AgentError | undefined {
    return this.#reason;
  }

  cancel(reason: AgentError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const first = this.#first;
    const more = this.#more;
    this.#first = undefined;
    this.#more = undefined;
    first?.(reason);
    if (more !== undefined) for (const run of more) run(reason);
  }

  onCancel(run: Listener): () => void {
    if (this.#reason !== undefined) {
      run(this.#reason);
      return nothing;
    }
    if (this.#first === undefined) {
      this.#first = run;
      return () => {
        if (this.#first === run) this.#first = undefined;
      };
    }
    this.#more ??= new Set();
    const more = this.#more.add(run);
    return () => void more.delete(run);
  }
}

/** The cancel as an AbortSignal. */
export function signalOf(cancel: Cancel): AbortSignal {
  const controller = new AbortController();
  cancel.onCancel((reason) => controller.abort(reason));
  return controller.signal;
}

/** An AbortSignal as a cancel. */
export function cancelFrom(signal: AbortSignal): CancelSource {
  const source = new CancelSource();
  const stop = (): void => source.cancel(reasonOf(signal));
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  return source;
}

function reasonOf(signal: AbortSignal): AgentError {
  if (signal.reason instanceof AgentError) return signal.reason;
  const timedOut = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  return timedOut
    ? new AgentError("deadline", "the caller's time limit passed")
    : new AgentError("cancelled", "the caller cancelled");
}
