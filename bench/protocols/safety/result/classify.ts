import type { Attempt, Observation } from "./event.js";

/** `blocked`: the right refusal was seen. `inconclusive`: neither that nor what the attacker wanted. */
export const OUTCOMES = ["succeeded", "blocked", "inconclusive"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Names of errors by which a protocol says that it does not believe the sender or the message. */
const DENIED =
  /unauthenticated|unauthori[sz]ed|forbidden|denied|signature|nonce|replay|digest|expired|timestamp|invalid_token|invalid_did|downgrade|decrypt|tamper|seal/i;
/** What a TLS client says about a peer that does not speak TLS. */
const NOT_TLS = /wrong.version.number|packet.length.too.long/i;
/** What servers say about HTTP in clear at a port with TLS. */
export const NEEDS_TLS = /requires TLS|HTTPS port|upgrade required/i;
const DENIED_STATUS = new Set([401, 403]);

/** The outcome of one attempt. 404, 500, a timeout and a refused connection say nothing about the probe. */
export function outcomeOf({ observed, refusals, before, after, controls }: Attempt): Outcome {
  if (!before || !after || controls.some(({ passed }) => !passed)) return "inconclusive";
  if (observed.goal) return "succeeded";
  return refusals.some((kind) => REFUSED[kind](observed)) ? "blocked" : "inconclusive";
}

const REFUSED: { readonly [kind in Attempt["refusals"][number]]: (observed: Observation) => boolean } = {
  alert: ({ alert }) => alert !== null,
  certificate: ({ certificate }) => certificate !== null,
  not_tls: ({ error }) => error !== null && NOT_TLS.test(error),
  tls_required: ({ status, name }) => (status === 400 || status === 426) && name !== null && NEEDS_TLS.test(name),
  denied: ({ status, name }) => isDenial(status, name),
  closed: ({ closed }) => closed,
  absent: ({ searched }) => searched !== null && searched > 0,
};

/** 401 and 403, or an error of the protocol that names the reason. A failure of the server is none, whatever it says. */
export function isDenial(status: number | null, name: string | null): boolean {
  if (status !== null && (status >= 500 || status === 404)) return false;
  return (status !== null && DENIED_STATUS.has(status)) || (name !== null && DENIED.test(name));
}
