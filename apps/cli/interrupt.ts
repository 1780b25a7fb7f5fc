import { AgentError } from "../../src/index.js";
import { EXIT } from "./exit.js";
import type { Output } from "./output.js";

/** Ctrl-C: the first ends the wait cleanly, the second ends the process. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** The promise, or a refusal as soon as somebody interrupts. */
  race<T>(promise: Promise<T>): Promise<T>;
  stop(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  let heard = false;
  function onSignal(): void {
    if (heard) process.exit(EXIT.interrupted);
    heard = true;
    controller.abort(new AgentError("cancelled", "interrupted: no longer waiting for the agent"));
  }
  for (const name of SIGNALS) process.on(name, onSignal);
  const { signal } = controller;
  return {
    signal,
    async race(promise) {
      let forget: () => void = () => undefined;
      const interrupted = new Promise<never>((_resolve, reject) => {
        const stop = (): void => reject(signal.reason);
        forget = () => signal.removeEventListener("abort", stop);
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop);
      });
      try {
        return await Promise.race([promise, interrupted]);
      } finally {
        forget();
      }
    },
    stop() {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}

/** Ends with the first signal; the second one ends the process. */
export function untilStopped(output: Output): Promise<void> {
  return new Promise((resolve) => {
    let heard = false;
    function onSignal(): void {
      if (heard) process.exit(EXIT.interrupted);
      heard = true;
      if (output.format === "text") output.say(STOPPING);
      resolve();
    }
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}

/** What everybody is told who stops something that others may be using. */
export const STOPPING = "Stopping: calls under way may end. Once more stops at once.";
