import type { ConnectOptions, RemoteAgent } from "../../../client/index.js";
import {
  AgentError,
  type Call,
  CancelSource,
  floorOf,
  type JsonObject,
  type Maybe,
  type Records,
} from "../../../envelope/index.js";
import type { Identity, Resolver } from "../../../security/identity/index.js";
import { a2a, sage } from "../../registry.js";
import { agentDid } from "../agent-did.js";
import { DidNotResolved, SageError, sageError } from "../errors.js";
import { checkedSageDid } from "../identity/did-sage.js";
import { callSessions, sessionReceivers } from "../session/call-session.js";
import type { SageSession } from "../session/session.js";
import { SessionError } from "../session/session-error.js";
import { PROTOCOL } from "../wire.js";
import { type AgentSession, agentSession, sessionOf } from "./agent-session.js";
import { ConnectedProtocol } from "./connected-protocol.js";
import { checkedMode, type Message, type ResponseSecurity } from "./message.js";
import type { CallOptions } from "./message-protocol.js";
import { Peers, type Recipient, recipientOf } from "./peers.js";
import type { SeenPeers } from "./seen-peers.js";

/** One list, so that what connections share is shared. */
export const SECURED = [sage];
/** What a server speaks: requests of SAGE are never handled as plain ones. */
export const SERVED = [a2a, sage];
/** What every message has: a server whose card hides its sessions gets none. */
export const SECURED_FLOOR = ["signed", "end-to-end"] as const;

/** What a SAGE adapter is made from. */
export interface SageProtocolOptions {
  readonly identity: Identity;
  readonly resolver: Resolver;
  /** Where the embedded registry is, and what was seen. */
  readonly records?: Maybe<Records>;
  /** The settings of SAGE. */
  readonly settings?: Maybe<JsonObject>;
  /** Absent: nothing is remembered. */
  readonly seen?: Maybe<SeenPeers>;
  /** Further options of the connections. */
  readonly connect?: Maybe<
    Omit<ConnectOptions, "protocols" | "pin" | "identity" | "records" | "settings" | "resolver" | "require">
  >;
}

/** Sends messages by A2A, signed and sealed in a session with the recipient, and verifies the answers. Sends nothing without. */
export class SAGEProtocol extends ConnectedProtocol {
  readonly name = sage.id;
  readonly version = sage.versions[0] ?? "";
  readonly requiresSecurity = true;
  readonly #options: SageProtocolOptions;

  constructor(options: SageProtocolOptions) {
    super(new Peers((recipient) => securedOptions(options, recipient)));
    this.#options = options;
  }

  /** The DID that it signs as. */
  get did(): string {
    return this.#options.identity.did;
  }

  /** Whether messages can be sent: the registry answers, and has the record of this agent. */
  async isAvailable(): Promise<boolean> {
    return (await this.unavailable()) === undefined;
  }

  /** Why it is not available. Undefined: it is. */
  async unavailable(): Promise<Maybe<AgentError>> {
    try {
      const { document } = await this.#options.resolver.resolve(this.did, new CancelSource());
      return document.deactivated ? new DidNotResolved("record.inactive", `${this.did} is deactivated`) : undefined;
    } catch (thrown) {
      return sageError(thrown);
    }
  }

  /** Makes a session with an agent, or returns the one that is open. Nothing else is sent. */
  async establishSession(peerDid: string, options: { readonly recipientUrl?: string } & CallOptions = {}): Promise<AgentSession> {
    const recipient = { did: checkedSageDid(peerDid).did, url: options.recipientUrl };
    const peer = await this.peers.to(recipient);
    const call = this.callFor({ signal: options.signal });
    let made: Maybe<SageSession>;
    sessionReceivers.put(call, (session) => {
      made = session;
    });
    await peer.handler({ kind: "ping" }, call);
    if (made === undefined) throw new AgentError("internal", "a session was asked for, and none was made");
    await this.#options.seen?.add(peerDid, recipient.url);
    return agentSession(made);
  }

  protected override async accept(message: Message): Promise<Recipient> {
    const { security } = message;
    if (security !== undefined && checkedMode(security.mode) === "none")
      throw new SageError("policy_denied", "the message asks not to be protected, and is not sent by SAGE", { sent: "no" });
    if (security?.did !== undefined && security.did !== this.did)
      throw new SageError("sig.binding", `the message is one of ${security.did.slice(0, 200)}, not of ${this.did}`, {
        sent: "no",
      });
    const recipient = recipientOf(message);
    if (recipient.did !== undefined) return { ...recipient, did: checkedSageDid(recipient.did).did };
    const did = recipient.url === undefined ? undefined : await this.#options.seen?.didAt(recipient.url);
    return { ...recipient, did };
  }

  protected override prepare(call: Call, { session: view }: CallOptions): Call {
    const prepared = call.derive({ floor: floorOf(SECURED_FLOOR) });
    if (view === undefined) return prepared;
    const session = sessionOf(view);
    if (session === undefined) throw new SessionError("session.unknown");
    callSessions.put(prepared, session);
    return prepared;
  }

  protected override async answered({ did, url }: Recipient, peer: RemoteAgent): Promise<ResponseSecurity> {
    const proved = did ?? agentDid(peer.card);
    if (proved !== undefined) await this.#options.seen?.add(proved, url);
    return { protected: true, did: proved };
  }
}

/** A recipient with a DID must prove it, wherever it is. */
export function securedOptions(options: SageProtocolOptions, { did, url }: Recipient): ConnectOptions {
  const { identity, resolver, records, settings, connect } = options;
  const own = { ...settings, ...(did === undefined || url === undefined ? undefined : { peer: did }) };
  return {
    ...connect,
    ...{ protocols: SECURED, pin: PROTOCOL, identity, resolver, require: SECURED_FLOOR },
    ...(records === undefined ? undefined : { records }),
    settings: { [PROTOCOL]: own },
  };
}
