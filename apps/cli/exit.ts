import type { AgentError } from "../../src/index.js";

/** Exit codes. 0 means that the command succeeded, even if the task it asked about failed. */
export const EXIT = { ok: 0, failure: 1, usage: 2, unreachable: 3, auth: 4, timeout: 5, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error for the user: one sentence, and what to do about it. */
export interface Problem {
  readonly code: string;
  /** The class of the error in the UTE format, `E_TIMEOUT`; errors of the command line itself have none. */
  readonly face?: AgentError["face"] | undefined;
  readonly message: string;
  readonly hint: string | undefined;
  /** Facts beside the code, such as `reason`: what exactly was refused. */
  readonly details?: AgentError["facts"]["detail"];
  readonly exit: ExitCode;
}

/** An error of the command line; errors of agents are AgentErrors. */
export class CliError extends Error {
  readonly code: string;
  readonly hint: string | undefined;
  readonly exit: ExitCode;

  constructor(exit: ExitCode, message: string, facts: { readonly code?: string; readonly hint?: string } = {}) {
    super(message);
    this.name = "CliError";
    this.exit = exit;
    this.code = facts.code ?? (exit === EXIT.usage ? "usage" : "failure");
    this.hint = facts.hint;
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(EXIT.usage, message, hint === undefined ? {} : { hint });
}
