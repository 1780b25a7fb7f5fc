import { AgentError, type Maybe } from "../../../envelope/index.js";
import { SageError } from "../errors.js";
import type { A2AProtocol } from "./a2a-protocol.js";
import { asksForSage } from "./connected-protocol.js";
import { type Downgrade, Downgrades } from "./downgrades.js";
import { checkedMode, type Message } from "./message.js";
import type { MessageProtocol } from "./message-protocol.js";
import { checkPolicy, type DowngradeReason, permitted, type SagePolicy } from "./policy.js";
import type { SAGEProtocol } from "./sage-protocol.js";
import type { SeenPeers } from "./seen-peers.js";

/** Every message by A2A. */
export const ProtocolA2A = "a2a-only";
/** Every message by SAGE. */
export const ProtocolSAGE = "sage-only";
/** By SAGE where the message, the recipient or the policy asks for it. */
export const ProtocolAuto = "auto";
export type ProtocolMode = typeof ProtocolA2A | typeof ProtocolSAGE | typeof ProtocolAuto;

/** What a selector chooses between. */
export interface SelectorOptions {
  readonly mode: ProtocolMode;
  readonly a2a: MessageProtocol & Partial<Pick<A2AProtocol, "offeredDid">>;
  /** Absent: this agent has no identity, and refuses what asks for SAGE. */
  readonly sage?: Maybe<MessageProtocol & Pick<SAGEProtocol, "did" | "unavailable">>;
  readonly policy?: Maybe<SagePolicy>;
  /** Agents that must use SAGE because they did. Absent: none is remembered. */
  readonly seen?: Maybe<SeenPeers>;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: Maybe<() => number>;
}

/** Chooses the protocol of each message. It never chooses less than the message, the recipient and the policy ask for. */
export class ProtocolSelector {
  readonly #options: SelectorOptions;
  readonly #downgrades = new Downgrades();

  constructor(options: SelectorOptions) {
    const { mode, policy = {} } = options;
    if (!isMode(mode)) throw unknownMode(mode);
    checkPolicy(policy);
    this.#options = options;
  }

  /** The messages that were sent without SAGE by an exception of the policy, the last ones first, and their number. */
  get downgrades(): { readonly count: number; readonly recent: readonly Downgrade[] } {
    const { count, recent } = this.#downgrades;
    return { count, recent };
  }

  /** Throws ErrDowngradeRefused for a message that asks for SAGE where there is none. */
  async selectProtocol(message: Message): Promise<MessageProtocol> {
    const { mode, a2a } = this.#options;
    if (message.security !== undefined) checkedMode(message.security.mode);
    switch (mode) {
      case ProtocolA2A: {
        const why = await this.#asked(message);
        if (why !== undefined) throw refused(`the message is not sent by A2A: ${why}`);
        return a2a;
      }
      case ProtocolSAGE:
        return this.#sage("this agent uses SAGE only");
      case ProtocolAuto: {
        const why = (await this.#asked(message)) ?? (await this.#preferred(message));
        return why === undefined ? a2a : this.#sage(why);
      }
      default:
        throw unknownMode(mode satisfies never);
    }
  }

  /** The same, and A2A instead of SAGE where SAGE cannot be used and the policy has an exception for it. Throws without one. */
  async selectWithFallback(message: Message): Promise<MessageProtocol> {
    const { sage, a2a, policy, now = Date.now } = this.#options;
    const selected = await this.selectProtocol(message);
    if (sage === undefined || selected !== sage) return selected;
    const problem = await this.#problem(message);
    if (problem === undefined) return sage;
    if (policy?.downgrade === undefined && problem.error !== undefined) throw problem.error;
    const peer = permitted(policy?.downgrade, message, problem.reason, now());
    return this.#downgrades.over(a2a, { ...problem, peer, opening: policy?.downgrade, now });
  }

  /** Why SAGE cannot be used for a message. */
  async #problem(message: Message): Promise<Maybe<{ readonly reason: DowngradeReason; readonly error?: Maybe<AgentError> }>> {
    const { sage, a2a } = this.#options;
    const error = await sage?.unavailable();
    if (error !== undefined) return { reason: "registry-unreachable", error };
    const { recipientUrl: url } = message;
    if (url === undefined || a2a.offeredDid === undefined || (await this.#isSeen(message))) return undefined;
    return (await a2a.offeredDid(url)) === undefined ? { reason: "peer-has-no-sage" } : undefined;
  }

  /** Why a message must not be sent by anything but SAGE, in every mode. */
  async #asked(message: Message): Promise<Maybe<string>> {
    const asked = asksForSage(message);
    if (asked !== undefined) return asked;
    return (await this.#isSeen(message)) ? "its recipient was seen with SAGE, and must use it" : undefined;
  }

  async #preferred({ recipientUrl: url }: Message): Promise<Maybe<string>> {
    const { sage, a2a, policy } = this.#options;
    const mode = policy?.mode ?? (sage === undefined ? "off" : "required");
    if (mode === "required") return "the policy requires SAGE";
    if (mode === "off" || url === undefined) return undefined;
    return (await a2a.offeredDid?.(url)) === undefined ? undefined : "the card of its recipient offers SAGE";
  }

  async #isSeen({ recipientDid, recipientUrl }: Message): Promise<boolean> {
    const { seen, policy } = this.#options;
    if (seen === undefined || policy?.pin === "none") return false;
    if (recipientDid !== undefined && (await seen.has(recipientDid))) return true;
    return recipientUrl !== undefined && (await seen.didAt(recipientUrl)) !== undefined;
  }

  #sage(why: string): MessageProtocol {
    const { sage } = this.#options;
    if (sage !== undefined) return sage;
    throw refused(`${why}, and this agent has no identity of SAGE: give one to withSAGE()`);
  }
}

function isMode(mode: unknown): mode is ProtocolMode {
  return mode === ProtocolA2A || mode === ProtocolSAGE || mode === ProtocolAuto;
}

function unknownMode(mode: unknown): AgentError {
  const shown = typeof mode === "string" ? JSON.stringify(mode.slice(0, 100)) : typeof mode;
  return new AgentError("invalid_message", `unknown protocol mode: ${shown}`, { field: "mode", sent: "no" });
}

function refused(why: string): SageError {
  return new SageError("policy_denied", why, { sent: "no" });
}
