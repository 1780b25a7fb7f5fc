import { AgentError, type ErrorCode, ERRORS as FACES } from "../../src/index.js";
import { CliError, EXIT, type ExitCode, type Problem } from "./exit.js";

const GIVE_CA = "If you know who made it, give the certificate of that authority with --ca FILE.";

/** By the error code of the handshake, as Node and OpenSSL name them. */
const TLS_HINTS: readonly (readonly [code: RegExp, hint: string])[] = [
  [/^(CRL_HAS_EXPIRED|UNABLE_TO_GET_CRL)$/, "Give a current revocation list of its authority with --crl FILE."],
  [/^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY|GET)_.*)$/, GIVE_CA],
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, "If it is the right one, give it with --ca FILE."],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "Call the agent by a name listed in its certificate."],
  [/^CERT_HAS_EXPIRED$/, "The agent's operator has to renew it; `koine serve` reloads changed files automatically."],
  [/^CERT_NOT_YET_VALID$/, "Compare the clocks of this machine and of the agent's."],
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/, "Write http:// if the agent is served in clear."],
];

/** Credential options of the library, and how the command line takes them. */
const CREDENTIALS: readonly (readonly [name: string, hint: string])[] = [
  ["credentials.apiKey", "set KOINE_API_KEY"],
  ["credentials.bearer", "set KOINE_TOKEN"],
  ["credentials.oauth2", "give --client-id and --token-url, and set KOINE_CLIENT_SECRET"],
  ["credentials.tls", "give --cert and --key"],
  ["credentials.headers", "give --header"],
];

const NOT_NOW = "The agent answers, but cannot do this now. Try again later.";

/** A hint more specific than that of the error code, if there is one. */
export function hintFor(error: AgentError): string | undefined {
  const system = systemCode(error);
  if (error.facts.detail?.["credentials"] === "rejected")
    return "They were sent and not accepted: are they current, and for this agent?";
  if (error.code === "unauthenticated") {
    const hints = CREDENTIALS.filter(([name]) => error.message.includes(name)).map(([, hint]) => hint);
    return hints.length === 0 ? undefined : `To show it, ${hints.join(", or ")}.`;
  }
  if (error.code !== "unavailable") return undefined;
  // Without a system error code the connection was fine: the agent itself reported it.
  return system === undefined ? NOT_NOW : TLS_HINTS.find(([code]) => code.test(system))?.[1];
}

const MAX_CAUSES = 5;

/** The system error code in the chain of causes. */
function systemCode(thrown: unknown): string | undefined {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < MAX_CAUSES; error = error.cause, depth++) {
    if (!(error instanceof AgentError) && "code" in error && typeof error.code === "string") return error.code;
  }
  return undefined;
}

const SEE_CARD = "`koine card get <url>` shows the agent and the protocols it speaks.";
const GIVE_CREDENTIALS =
  "Set KOINE_TOKEN or KOINE_API_KEY, or give --client-id or --cert; `koine card get <url>` says what the agent asks for.";

/** The exit code of each error code, and a hint where the user can act. */
const ERRORS = {
  invalid_message: { exit: EXIT.failure },
  too_large: { exit: EXIT.failure, hint: "Send less at once, or a URL instead of the file." },
  encode: { exit: EXIT.failure },
  decode: { exit: EXIT.failure },
  unsupported: { exit: EXIT.failure, hint: SEE_CARD },
  unsupported_method: { exit: EXIT.failure, hint: SEE_CARD },
  unsupported_version: { exit: EXIT.failure, hint: SEE_CARD },
  unsupported_content: { exit: EXIT.failure, hint: "`koine card get <url>` lists the media types the agent takes." },
  push_unsupported: { exit: EXIT.failure },
  extension_required: { exit: EXIT.failure, hint: SEE_CARD },
  card_not_configured: { exit: EXIT.failure },
  downgrade_refused: {
    exit: EXIT.failure,
    hint: "The agent offers less security than required; `koine card get <url>` shows what it offers.",
  },
  task_not_found: {
    exit: EXIT.failure,
    hint: "It may have ended long ago, or belong to another caller. `koine task list <url>` lists yours.",
  },
  not_found: { exit: EXIT.failure, hint: SEE_CARD },
  not_cancelable: { exit: EXIT.failure, hint: "`koine task get <url> <id>` shows the state it is in." },
  task_closed: {
    exit: EXIT.failure,
    hint: "A task that has ended takes no messages: send without --task, and with its --session.",
  },
  conflict: { exit: EXIT.failure },
  expired: { exit: EXIT.failure },
  unauthenticated: { exit: EXIT.auth, hint: GIVE_CREDENTIALS },
  forbidden: { exit: EXIT.auth, hint: "These credentials are not allowed to do this; use others." },
  bad_signature: { exit: EXIT.auth },
  replayed: { exit: EXIT.auth },
  identity_unresolved: {
    exit: EXIT.auth,
    hint: "Is the DID spelled right, and is its document published at the address that the DID names?",
  },
  handshake_failed: {
    exit: EXIT.auth,
    hint: "The agent could not prove its identity, or refused yours; `details.reason` says why.",
  },
  session_expired: { exit: EXIT.auth },
  overloaded: { exit: EXIT.failure, hint: "The agent is overloaded. Try again later." },
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

/** Anything thrown, as a message with a hint and an exit code. */
export function problemOf(thrown: unknown): Problem {
  if (thrown instanceof CliError) {
    const { code, message, hint, exit } = thrown;
    return { code, face: code in FACES ? FACES[code as ErrorCode].face : undefined, message, hint, exit };
  }
  if (thrown instanceof AgentError) {
    const entry: { readonly exit: ExitCode; readonly hint?: string } = ERRORS[thrown.code];
    const { code, face, message, facts } = thrown;
    const details = facts.detail === undefined ? undefined : { details: facts.detail };
    return { code, face, message, hint: hintFor(thrown) ?? entry.hint, ...details, exit: entry.exit };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "failure", face: undefined, message, hint: undefined, exit: EXIT.failure };
}

/** The listen address, and the options that change it. */
interface ListenTarget {
  readonly host: string;
  readonly port: number;
  /** `--port`, or the member of a configuration. */
  readonly portBy: string;
  readonly hostBy: string;
}

/** A listen error with a hint; anything else is returned as it is. */
export function listenProblem(thrown: unknown, { host, port, portBy, hostBy }: ListenTarget): unknown {
  switch (systemCode(thrown)) {
    case "EADDRINUSE":
      return new CliError(EXIT.failure, `port ${port} of ${host} is in use`, {
        code: "port_in_use",
        hint: `Choose another with ${portBy}, or 0 for any free one.`,
      });
    case "EACCES":
      return new CliError(EXIT.failure, `port ${port} may not be used by this user`, {
        hint: `Choose one above 1023 with ${portBy}.`,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new CliError(EXIT.failure, `${host} is not an address of this machine`, { hint: `Choose another with ${hostBy}.` });
    default:
      return thrown;
  }
}
