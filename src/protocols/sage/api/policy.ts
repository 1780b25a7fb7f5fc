import { reachOf } from "../../../client/did-resolvers.js";
import { AgentError, type Maybe } from "../../../envelope/index.js";
import type { PolicySink } from "../../../policies/index.js";
import type { AuditSink } from "../../../security/index.js";
import { isTlsAddress } from "../../../transport/address-parts.js";
import { SageError } from "../errors.js";
import type { Message, Sensitivity } from "./message.js";
import { type Recipient, recipientOf } from "./peers.js";

/** Why a message may be sent without SAGE, though SAGE was asked for. */
export const DOWNGRADE_REASONS = ["registry-unreachable", "peer-has-no-sage"] as const;
export type DowngradeReason = (typeof DOWNGRADE_REASONS)[number];

/** An exception: messages to these agents may be sent by A2A, for these reasons, until it ends. Each one is in the audit log. */
export interface DowngradeOpening {
  /** DIDs, or hosts. There is no way to name all. */
  readonly peers: readonly string[];
  readonly reasons: readonly DowngradeReason[];
  /** Messages above it, and those without a label, are not sent. */
  readonly maxSensitivity: Exclude<Sensitivity, "confidential">;
  /** Why, for whoever reads the log. */
  readonly because: string;
  /** The time at which it ends: ISO 8601. */
  readonly until: string;
  /** Receives a line for each message that is sent without SAGE. */
  readonly audit: AuditSink;
  /** Counts them, for example `telemetry.policies("billing")`. Default: counted by the agent only. */
  readonly notes?: Maybe<PolicySink>;
}

/** When SAGE is used. */
export interface SagePolicy {
  /**
   * `required`: for every message. `preferred`: for agents that offer it or once did, and messages that ask for it; it does not allow
   * anything else after a failure. `off`: only for messages that ask for it. Default: `required`.
   */
  readonly mode?: Maybe<"off" | "preferred" | "required">;
  /** `remember`: an agent that was seen with SAGE must use it for 30 days. Default: `remember`. */
  readonly pin?: Maybe<"remember" | "none">;
  /** Default: none. Then a message that cannot be sent by SAGE is not sent. */
  readonly downgrade?: Maybe<DowngradeOpening>;
}

const RANKS: { readonly [label in Sensitivity]: number } = { public: 0, internal: 1, confidential: 2 };
const MODES: readonly unknown[] = ["off", "preferred", "required", undefined];

/** Throws `invalid_message` with the member that is wrong. */
export function checkPolicy({ mode, pin, downgrade }: SagePolicy): void {
  if (!MODES.includes(mode)) throw invalid("mode", "must be off, preferred or required");
  if (pin !== undefined && pin !== "remember" && pin !== "none") throw invalid("pin", "must be remember or none");
  if (downgrade === undefined) return;
  const { peers, reasons, maxSensitivity, because, until } = downgrade;
  if (peers.length === 0 || peers.some((each) => each === "" || each.includes("*")))
    throw invalid("downgrade.peers", "must name each DID or host");
  if (reasons.length === 0 || !reasons.every((each) => DOWNGRADE_REASONS.includes(each)))
    throw invalid("downgrade.reasons", `must be some of ${DOWNGRADE_REASONS.join(", ")}`);
  if (maxSensitivity !== "public" && maxSensitivity !== "internal")
    throw invalid("downgrade.maxSensitivity", "must be public or internal");
  if (because.trim() === "") throw invalid("downgrade.because", "must say why");
  if (Number.isNaN(Date.parse(until))) throw invalid("downgrade.until", "must be a time: ISO 8601");
}

function invalid(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `the policy of SAGE is not valid: ${field} ${problem}`, { field, sent: "no" });
}

/** The peer of an opening that a message is for. Throws ErrDowngradeRefused for the first condition that does not hold. */
export function permitted(opening: Maybe<DowngradeOpening>, message: Message, reason: DowngradeReason, nowMs: number): string {
  const refuse = (why: string): SageError =>
    new SageError("policy_denied", `SAGE cannot be used (${reason}), and A2A may not be used instead: ${why}`, { sent: "no" });
  if (opening === undefined) throw refuse("the policy has no exception");
  const { peers, reasons, maxSensitivity, until } = opening;
  if (nowMs >= Date.parse(until)) throw refuse(`the exception ended at ${until}`);
  if (!reasons.includes(reason)) throw refuse("the exception is for another reason");
  const recipient = recipientOf(message);
  const peer = peers.find((each) => isFor(each, recipient));
  if (peer === undefined) throw refuse("the exception is for other agents");
  const label = message.sensitivity ?? "confidential";
  if (RANKS[label] > RANKS[maxSensitivity]) throw refuse(`the message is ${label}`);
  const { url } = recipient;
  if (url === undefined) throw refuse("the message has no recipientUrl, and its DID cannot be asked for one");
  if (!isTlsAddress(url) && reachOf(url) !== "loopback") throw refuse("the address has no TLS");
  return peer;
}

function isFor(peer: string, { did, url }: Recipient): boolean {
  if (did !== undefined && peer === did) return true;
  // A message for a DID is for nobody else: that its address is an excepted one changes nothing.
  return did === undefined && url !== undefined && URL.canParse(url) && [new URL(url).host, new URL(url).hostname].includes(peer);
}
