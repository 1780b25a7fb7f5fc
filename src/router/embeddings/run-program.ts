import { spawn } from "node:child_process";
import { AgentError, type Maybe } from "../../envelope/index.js";

/** The end of the output, which says why a program failed. */
const KEPT_CHARACTERS = 2_000;
/** npm errors that mean the registry is unreachable. */
const NO_NETWORK = /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/;

/** Runs a program to completion. Its output is kept for the error message. */
export async function runProgram(
  program: "npm" | "tar",
  args: readonly string[],
  { cwd, signal, limitMs }: { readonly cwd: string; readonly signal: Maybe<AbortSignal>; readonly limitMs: number },
): Promise<void> {
  throwIfStopped(signal);
  let output = "";
  const { code, failure } = await new Promise<{ readonly code: Maybe<number>; readonly failure: Maybe<Error> }>((resolve) => {
    // On Windows npm is a script that needs a shell; no argument here has shell metacharacters.
    const shell = program === "npm" && process.platform === "win32";
    const child = spawn(program, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs,
      shell,
      ...(signal ? { signal } : {}),
    });
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString("utf8")).slice(-KEPT_CHARACTERS);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (failure) => resolve({ code: undefined, failure }));
    child.on("close", (code) => resolve({ code: code ?? undefined, failure: undefined }));
  });
  if (code === 0) return;
  throwIfStopped(signal);
  if (failure !== undefined) throw new AgentError("unavailable", `${program} cannot be started`, { cause: failure });
  if (code === undefined) throw new AgentError("deadline", `${program} did not finish in ${limitMs / 60_000} minutes`);
  if (NO_NETWORK.test(output))
    throw new AgentError("unavailable", "the npm registry cannot be reached", { detail: { said: output } });
  throw new AgentError("unavailable", `${program} failed: ${lastLine(output)}`, { detail: { said: output } });
}

function throwIfStopped(signal: Maybe<AbortSignal>): void {
  if (signal?.aborted === true)
    throw new AgentError("cancelled", "interrupted: complete downloads are kept for the next attempt");
}

/** npm ends its output with the path of its log; the error is before it. */
function lastLine(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !/complete log|debug-\d/.test(line));
  return lines.at(-1)?.replace(/^npm (?:error|ERR!) /, "") ?? "it printed no reason";
}
