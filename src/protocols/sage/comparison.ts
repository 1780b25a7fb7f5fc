import type { Protocol } from "../protocol.js";
import { NETWORKS } from "./identity/did-sage.js";
import { RECORDS, SESSION_LIMITS } from "./session/profile.js";
import { SIGNATURES } from "./signatures/profile.js";
import { TIMES } from "./wire.js";

/** A median, in milliseconds. */
interface Measured {
  readonly p50Ms: number;
}

/** Latencies that were measured: of a message without and with SAGE, and of the first message to an agent. */
export interface MeasuredLatency {
  readonly a2a: Measured;
  readonly sage: Measured;
  readonly first: { readonly embedded: Measured; readonly chain: Measured };
}

/** One row of the comparison: a feature, and what it is in a protocol. */
type Row = readonly [feature: string, describe: (protocol: Protocol, latency: MeasuredLatency) => string];

/** The rows of the SAGE design, each from what the protocol declares and from its limits. */
const ROWS: readonly Row[] = [
  [
    "Identity",
    ({ needsIdentity }) => (needsIdentity === true ? "DID in a registry" : "name on a card; a DID if the user has one"),
  ],
  [
    "Authentication",
    ({ needsIdentity }) =>
      needsIdentity === true ? "every request signed" : "what the server asks for: none, keys, tokens, certificates",
  ],
  [
    "Message integrity",
    ({ traits }) =>
      traits.signed === "end-to-end"
        ? `RFC 9421 over ${SIGNATURES.request.sign.length} components, and the author's signature`
        : "TLS",
  ],
  [
    "Encryption",
    ({ traits, sealsStore }) => {
      const wire = traits.sealed === "end-to-end" ? "TLS, and sealed from agent to agent" : "TLS";
      return `${wire}; tasks at rest ${sealsStore === undefined ? "if the user asks for it" : "by default, large parts not"}`;
    },
  ],
  [
    "Replay protection",
    ({ traits }) =>
      traits.signed === "end-to-end"
        ? `each nonce once, for ${(TIMES.lifetimeMs + TIMES.skewMs) / 1_000} s`
        : "idempotency keys only",
  ],
  ["Key management", ({ didMethods }) => (didMethods === undefined ? "none" : "registry: rotation, revocation, deactivation")],
  [
    "Latency",
    ({ requestsPerCall = 1, traits }, { a2a, sage, first }) =>
      traits.sealed === "end-to-end"
        ? `${ms(sage)} in a session, ${ms(first.embedded)} for the first message, ${ms(first.chain)} with a registry on a local chain (stated: 100 to 200 ms). 1 round trip for each message, ${requestsPerCall} at the first of a server that has just started; 1 more for each session (${SESSION_LIMITS.messages.toLocaleString("en")} messages or ${RECORDS.lifetimeMs / 3_600_000} h)`
        : `${ms(a2a)} (stated: 10 to 50 ms). ${requestsPerCall} round trip for each message`,
  ],
  [
    "Chain",
    ({ didMethods }) =>
      didMethods === undefined ? "none" : `a registry on ${Object.keys(NETWORKS).join(", ")}; or embedded, without one`,
  ],
  ["Use case", ({ features }) => features?.madeFor ?? ""],
];

/** The comparison of protocols, one column for each. */
export function comparison(protocols: readonly Protocol[], latency: MeasuredLatency): readonly (readonly string[])[] {
  return ROWS.map(([feature, describe]) => [feature, ...protocols.map((protocol) => describe(protocol, latency))]);
}

function ms({ p50Ms }: Measured): string {
  return `${p50Ms.toFixed(1)} ms`;
}
