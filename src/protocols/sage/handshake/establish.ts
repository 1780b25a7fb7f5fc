import type { JsonObject, Maybe } from "../../../envelope/index.js";
import type { SageSession } from "../session/session.js";
import { initiateFourPhase } from "./four-phase-initiator.js";
import { FourPhaseResponder } from "./four-phase-responder.js";
import { HandshakeError } from "./handshake-error.js";
import { type Initiation, initiateHpke, respondHpke, type SignedBy } from "./hpke-form.js";
import { INIT_TASK } from "./hpke-schedule.js";
import { type HandshakeSide, wordIn } from "./side.js";

/** `hpke`: one round trip, SAGE 0.10.0. `four-phase`: two, Invitation, Response, Request and Complete. */
export type HandshakeForm = "hpke" | "four-phase";

const FORMS: { readonly [form in HandshakeForm]: (side: HandshakeSide, peerDid: string) => Promise<Initiation> } = {
  hpke: initiateHpke,
  "four-phase": initiateFourPhase,
};

/**
 * Makes a session with a peer. `exchange` sends a message and returns the answer to it. The messages of `hpke` must travel under a signature
 * by this side: its first message has none of its own. Throws `HandshakeError`, or what `exchange` and the resolution of keys throw.
 */
export async function establish(
  side: HandshakeSide,
  { peerDid, form = "hpke" }: { readonly peerDid: string; readonly form?: Maybe<HandshakeForm> },
  exchange: (message: JsonObject) => Promise<unknown>,
): Promise<SageSession> {
  const initiation = await FORMS[form](side, peerDid);
  let message = initiation.first;
  for (;;) {
    const step = await initiation.next(await exchange(message));
    if ("session" in step) return step.session;
    message = step.send;
  }
}

/** The answer to a message of a handshake, and the session after the last one. */
export interface Response {
  readonly reply: JsonObject;
  readonly session?: Maybe<SageSession>;
}

/** Answers handshakes in both forms. One for each identity of a process. */
export class Responder {
  readonly #side: HandshakeSide;
  readonly #fourPhase: FourPhaseResponder;

  constructor(side: HandshakeSide) {
    this.#side = side;
    this.#fourPhase = new FourPhaseResponder(side);
  }

  /**
   * `signedBy`: the verified signature under which the message came. The first message of `hpke` is refused without one; the messages of
   * `four-phase` have their own. Throws `HandshakeError`, or what the resolution of keys throws.
   */
  async receive(message: unknown, signedBy?: Maybe<SignedBy>): Promise<Response> {
    switch (wordIn(message, "task") ?? wordIn(message, "phase")) {
      case INIT_TASK:
        if (signedBy === undefined) throw new HandshakeError("handshake.signer", "the message is not signed");
        return respondHpke(this.#side, message, signedBy);
      case "invitation":
        return { reply: await this.#fourPhase.invitation(message) };
      case "request":
        return this.#fourPhase.request(message);
      default:
        throw new HandshakeError("handshake.malformed", "neither a task nor a phase that begins or continues a handshake");
    }
  }
}
