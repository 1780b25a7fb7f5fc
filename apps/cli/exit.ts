import { AgentError, type ErrorCode } from "../../src/index.js";
import { hintFor } from "./hint.js";

/** What the exit code says. 0 means the tool did its job, even if the task it asked about failed. */
export const EXIT = { ok: 0, failure: 1, usage: 2, unreachable: 3, auth: 4, timeout: 5, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Something went wrong, said for people: one sentence, and what to do about it. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly exit: ExitCode;
}

/** A problem of the tool itself; those of agents are AgentErrors. */
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

const LOOK = "`koine card get <url>` shows what answers there and what it speaks.";
const SHOW_CREDENTIALS =
  "Set KOINE_TOKEN or KOINE_API_KEY, or give --client-id or --cert; `koine card get <url>` says what the agent asks for.";

/** Every code has an exit code; one that people can do something about also has a hint. */
const FACES = {
  invalid_message: { exit: EXIT.failure },
  too_large: { exit: EXIT.failure, hint: "Send less at once, or a URL instead of the file." },
  encode: { exit: EXIT.failure },
  decode: { exit: EXIT.failure },
  unsupported: { exit: EXIT.failure, hint: LOOK },
  unsupported_method: { exit: EXIT.failure, hint: LOOK },
  unsupported_version: { exit: EXIT.failure, hint: LOOK },
  unsupported_content: { exit: EXIT.failure, hint: "`koine card get <url>` lists the media types the agent takes." },
  push_unsupported: { exit: EXIT.failure },
  extension_required: { exit: EXIT.failure, hint: LOOK },
  card_not_configured: { exit: EXIT.failure },
  downgrade_refused: {
    exit: EXIT.failure,
    hint: "The agent gives less than was asked for; `koine card get <url>` shows what it gives.",
  },
  task_not_found: {
    exit: EXIT.failure,
    hint: "It may have ended long ago, or belong to another caller. `koine task list <url>` lists yours.",
  },
  not_found: { exit: EXIT.failure, hint: LOOK },
  not_cancelable: { exit: EXIT.failure, hint: "`koine task get <url> <id>` shows the state it is in." },
  task_closed: {
    exit: EXIT.failure,
    hint: "A task that has ended takes no messages: send without --task, and with its --session.",
  },
  conflict: { exit: EXIT.failure },
  expired: { exit: EXIT.failure },
  unauthenticated: { exit: EXIT.auth, hint: SHOW_CREDENTIALS },
  forbidden: { exit: EXIT.auth, hint: "These credentials are not allowed to do this; use others." },
  bad_signature: { exit: EXIT.auth },
  replayed: { exit: EXIT.auth },
  identity_unresolved: { exit: EXIT.auth },
  session_expired: { exit: EXIT.auth },
  overloaded: { exit: EXIT.failure, hint: "The agent has too much to do. Try again later." },
  unavailable: { exit: EXIT.unreachable, hint: "Is the agent running, and is the address right?" },
  interrupted: {
    exit: EXIT.unreachable,
    hint: "The connection was cut. What the agent was doing may go on: `koine task list <url>`.",
  },
  deadline: { exit: EXIT.timeout, hint: "Wait longer with --timeout SECONDS. What the agent was doing may go on." },
  cancelled: { exit: EXIT.interrupted },
  bad_peer: { exit: EXIT.failure, hint: "The agent breaks its protocol; `koine conform <url>` shows where." },
  loop: { exit: EXIT.failure },
  lost_place: { exit: EXIT.failure },
  internal: { exit: EXIT.failure },
} as const satisfies Record<ErrorCode, { readonly exit: ExitCode; readonly hint?: string }>;

/** Whatever was thrown, as something to say and an exit code. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof CliError) return { code: thrown.code, message: thrown.message, hint: thrown.hint, exit: thrown.exit };
  if (thrown instanceof AgentError) {
    const face: { readonly exit: ExitCode; readonly hint?: string } = FACES[thrown.code];
    return { code: thrown.code, message: thrown.message, hint: hintFor(thrown) ?? face.hint, exit: face.exit };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "failure", message, hint: undefined, exit: EXIT.failure };
}
