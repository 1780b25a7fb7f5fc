import { AgentError } from "../../src/index.js";
import { EXIT } from "./exit.js";
import type { Output } from "./output.js";

/** Ctrl-C: the first ends the wait cleanly, the second ends the process. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** The promise, or a rejection as soon as a signal arrives. */
  race<T>(promise: Promise<T>): Promise<T>;
  stop(): void;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  let interrupted = false;
  function onSignal(): void {
    if (interrupted) process.exit(EXIT.interrupted);
    interrupted = true;
    controller.abort(new AgentError("cancelled", "interrupted: no longer waiting for the agent"));
  }
  for (const name of SIGNALS) process.on(name, onSignal);
  const { signal } = controller;
  return {
    signal,
    async race(promise) {
      let removeListener: () => void = () => undefined;
      const aborted = new Promise<never>((_resolve, reject) => {
        const stop = (): void => reject(signal.reason);
        removeListener = () => signal.removeEventListener("abort", stop);
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop);
      });
      try {
        return await Promise.race([promise, aborted]);
      } finally {
        removeListener();
      }
    },
    stop() {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}

/** Resolves on the first signal; the second one ends the process. */
export function untilStopped(output: Output): Promise<void> {
  return new Promise((resolve) => {
    let interrupted = false;
    function onSignal(): void {
      if (interrupted) process.exit(EXIT.interrupted);
      interrupted = true;
      if (output.format === "text") output.say(STOPPING);
      resolve();
    }
    process.on("SIGINT", onSignal);
    process.on("SIGTERM", onSignal);
  });
}

/** Printed when a server begins to shut down. */
export const STOPPING = "Stopping; waiting for calls in progress. Press Ctrl-C again to stop immediately.";
