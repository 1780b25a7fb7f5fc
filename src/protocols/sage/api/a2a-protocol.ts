import type { ConnectOptions, RemoteAgent } from "../../../client/index.js";
import type { Call } from "../../../envelope/index.js";
import { a2a } from "../../registry.js";
import { agentDid } from "../agent-did.js";
import { SageError } from "../errors.js";
import { asksForSage, ConnectedProtocol } from "./connected-protocol.js";
import type { Message, ResponseSecurity } from "./message.js";
import { Peers, type Recipient, recipientOf } from "./peers.js";

/** One list, so that what connections share is shared. */
export const PLAIN = [a2a];

/** Sends messages by A2A, unprotected but for TLS. A message that asks for SAGE is refused. */
export class A2AProtocol extends ConnectedProtocol {
  readonly name = a2a.id;
  readonly version = a2a.versions[0] ?? "";
  readonly requiresSecurity = false;

  /** `options`: those of the connections, for example credentials. */
  constructor(options: Omit<ConnectOptions, "protocols" | "pin"> = {}) {
    super(new Peers(() => ({ ...options, protocols: PLAIN })));
  }

  /** The DID that the card of an agent names for SAGE; undefined if it does not offer SAGE. */
  async offeredDid(url: string): Promise<string | undefined> {
    return agentDid((await this.peers.to({ did: undefined, url })).card);
  }

  protected override async accept(message: Message): Promise<Recipient> {
    const why = asksForSage(message);
    if (why === undefined) return recipientOf(message);
    throw new SageError("policy_denied", `the message is not sent by A2A: ${why}`, { sent: "no" });
  }

  protected override prepare(call: Call): Call {
    return call;
  }

  protected override async answered(_recipient: Recipient, _peer: RemoteAgent): Promise<ResponseSecurity> {
    return { protected: false };
  }
}
