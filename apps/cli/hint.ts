import { AgentError } from "../../src/index.js";

const GIVE_CA = "If you know who made it, give the certificate of that authority with --ca FILE.";

/** By what the handshake ended with; Node and OpenSSL name these. */
const TLS_HINTS: readonly (readonly [code: RegExp, hint: string])[] = [
  [/^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(VERIFY|GET)_.*)$/, GIVE_CA],
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, "If it is the right one, give it with --ca FILE."],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "Call the agent by a name that stands in its certificate."],
  [/^CERT_HAS_EXPIRED$/, "Whoever runs the agent has to renew it; `koine serve` takes new files into use by itself."],
  [/^CERT_NOT_YET_VALID$/, "Compare the clocks of this machine and of the agent's."],
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/, "Write http:// if the agent is served in clear."],
];

/** What the errors of the library call by the names of its options, and how it is given here. */
const CREDENTIALS: readonly (readonly [name: string, hint: string])[] = [
  ["credentials.apiKey", "set KOINE_API_KEY"],
  ["credentials.bearer", "set KOINE_TOKEN"],
  ["credentials.oauth2", "give --client-id and --token-url, and set KOINE_CLIENT_SECRET"],
  ["credentials.tls", "give --cert and --key"],
  ["credentials.headers", "give --header"],
];

const NOT_NOW = "The agent answers, but cannot do this now. Try again later.";

/** What to do about an error whose code alone says too little; undefined where it says enough. */
export function hintFor(error: AgentError): string | undefined {
  const system = systemCode(error);
  if (error.code === "unauthenticated") {
    const ways = CREDENTIALS.filter(([name]) => error.message.includes(name)).map(([, hint]) => hint);
    return ways.length === 0 ? undefined : `To show it, ${ways.join(", or ")}.`;
  }
  if (error.code !== "unavailable") return undefined;
  // Without a system's code nothing was wrong with the connection: it is the agent that says so.
  return system === undefined ? NOT_NOW : TLS_HINTS.find(([code]) => code.test(system))?.[1];
}

const MAX_CAUSES = 5;

/** The system's own code, wherever in the chain of causes it is. */
export function systemCode(thrown: unknown): string | undefined {
  for (let error: unknown = thrown, depth = 0; error instanceof Error && depth < MAX_CAUSES; error = error.cause, depth++) {
    if (!(error instanceof AgentError) && "code" in error && typeof error.code === "string") return error.code;
  }
  return undefined;
}
