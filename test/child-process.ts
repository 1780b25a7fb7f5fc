import type { ChildProcess } from "node:child_process";

/** Resolves when a process has exited, also if it had before the call; rejects if it could not be started. */
export function exited(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.once("error", reject);
  });
}
