import { type ChildProcess, fork } from "node:child_process";
import { compiled, KOINE } from "../programs.js";
import type { CommandRun } from "./processes/runner.js";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Environment = CommandRun["env"];

/** Commands that leave nothing in their process. */
const COMMANDS = new Set([
  "audit",
  "card",
  "conform",
  "identity",
  "inspect",
  "record",
  "replay",
  "route",
  "routerbench",
  "sage",
  "send",
  "task",
]);
/** What Node or a library reads once for a whole process. */
const OF_THE_PROCESS = /^(NODE_|OTEL_|SSL_|TZ$|FORCE_COLOR$|NO_COLOR$)/;

/** Whether a command may share a process with others. */
export function canShare(args: readonly string[], env: Environment): boolean {
  const traces = args.some((arg) => /^--(trace|otlp-endpoint)\b/.test(arg));
  const leavesNothing = COMMANDS.has(args[0] ?? "") || (args[0] === "gateway" && args.includes("--check"));
  return leavesNothing && !traces && !Object.keys(env).some((name) => OF_THE_PROCESS.test(name));
}

const idle: ChildProcess[] = [];

/** Runs one command to its end in a process that has run others before, one at a time. */
export async function runShared(wanted: CommandRun): Promise<Outcome> {
  const runner = idle.pop() ?? startRunner();
  hold(runner, true);
  const outcome = await new Promise<Outcome>((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`the runner of ${wanted.args.join(" ")} ended with ${code}`));
    runner.once("exit", ended);
    runner.once("message", (answer) => {
      runner.off("exit", ended);
      resolve(answer as Outcome); // the answer of `processes/runner.ts`
    });
    runner.send(wanted);
  });
  hold(runner, false);
  idle.push(runner);
  return outcome;
}

function startRunner(): ChildProcess {
  return fork(compiled("test/cli/processes/runner.ts"), KOINE, {
    env: { PATH: process.env["PATH"] },
    stdio: ["ignore", 2, 2, "ipc"],
  });
}

/** An idle runner does not keep the process of the tests alive; it ends with it. */
function hold(runner: ChildProcess, busy: boolean): void {
  runner[busy ? "ref" : "unref"]();
  runner.channel?.[busy ? "ref" : "unref"]();
}
