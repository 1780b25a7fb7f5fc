import { spawn } from "node:child_process";
import { AgentError, type Maybe } from "../../envelope/index.js";

/** The last words of a program say why it failed; more of them would only be noise. */
const KEPT_CHARACTERS = 2_000;
/** Any of these in npm's complaint means that no registry could be asked. */
const NO_NETWORK = /ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/;

/** Runs a program to its end. Its output is kept for the case that it fails. */
export async function runProgram(
  program: "npm" | "tar",
  words: readonly string[],
  { cwd, signal, limitMs }: { readonly cwd: string; readonly signal: Maybe<AbortSignal>; readonly limitMs: number },
): Promise<void> {
  throwIfStopped(signal);
  let said = "";
  const { code, failure } = await new Promise<{ readonly code: Maybe<number>; readonly failure: Maybe<Error> }>((resolve) => {
    // On Windows npm is a script, which only a shell can start; no word given here has anything a shell would read.
    const shell = program === "npm" && process.platform === "win32";
    const child = spawn(program, words, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs,
      shell,
      ...(signal ? { signal } : {}),
    });
    const keep = (chunk: Buffer): void => {
      said = (said + chunk.toString("utf8")).slice(-KEPT_CHARACTERS);
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
  if (NO_NETWORK.test(said)) throw new AgentError("unavailable", "the npm registry cannot be reached", { detail: { said } });
  throw new AgentError("unavailable", `${program} failed: ${lastLine(said)}`, { detail: { said } });
}

function throwIfStopped(signal: Maybe<AbortSignal>): void {
  if (signal?.aborted === true)
    throw new AgentError("cancelled", "interrupted: what was fetched completely is kept for the next try");
}

/** npm ends with where its log is; what went wrong stands before. */
function lastLine(said: string): string {
  const lines = said.split("\n").filter((line) => line.trim() !== "" && !/complete log|debug-\d/.test(line));
  return lines.at(-1)?.replace(/^npm (?:error|ERR!) /, "") ?? "it did not say why";
}
