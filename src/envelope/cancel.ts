import { AgentError } from "./error.js";

/** Somebody stopped listening, or the work must stop. Ours, because an AbortSignal costs microseconds per call. */
export interface Cancel {
  readonly cancelled: boolean;
  readonly reason: AgentError | undefined;
  cancel(reason: AgentError): void;
  /** Runs at most once; at once if already cancelled. The returned function takes the listener off. */
  onCancel(run: (reason: AgentError) => void): () => void;
}

const nothing = (): void => undefined;

export class CancelSource implements Cancel {
  #reason: AgentError | undefined;
  #listeners: Set<(reason: AgentError) => void> | undefined;

  get cancelled(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): AgentError | undefined {
    return this.#reason;
  }

  cancel(reason: AgentError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners) for (const run of listeners) run(reason);
  }

  onCancel(run: (reason: AgentError) => void): () => void {
    if (this.#reason !== undefined) {
      run(this.#reason);
      return nothing;
    }
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(run);
    return () => void listeners.delete(run);
  }
}

/** The same cancel as a platform signal, for whoever asks. */
export function signalOf(cancel: Cancel): AbortSignal {
  const controller = new AbortController();
  cancel.onCancel((reason) => controller.abort(reason));
  return controller.signal;
}

/** A platform signal as a cancel. */
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
    : new AgentError("cancelled", "the caller gave up");
}
