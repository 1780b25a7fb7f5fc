import { EXIT } from "./exit.js";
import type { Output } from "./output.js";

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
