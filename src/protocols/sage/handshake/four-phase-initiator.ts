import type { Maybe } from "../../../envelope/index.js";
import type { EphemeralKey } from "../../../security/agreement/index.js";
import type { PublicKey } from "../../../security/identity/index.js";
import { SageSession } from "../session/session.js";
import {
  COMPLETE,
  type Complete,
  checkMessage,
  checkTime,
  type Ends,
  EXPORT_CONTEXT,
  fourPhaseSchedule,
  hashOf,
  INVITATION,
  type Invitation,
  infoOf,
  LABELS,
  type Messages,
  RESPONSE,
  type Response,
  SUITES,
  signMessage,
} from "./four-phase-messages.js";
import { HandshakeError } from "./handshake-error.js";
import type { Initiation, Step } from "./hpke-form.js";
import { checkKeyOf, decode, encode, readShape } from "./message-shape.js";
import { AGREEING, agreed, HANDSHAKE_LIMITS, type HandshakeSide, keyFor, newShare, openFrom, SIGNING, sealTo } from "./side.js";

/** The initiator of the four-phase handshake: sends invitation and request, takes response and complete. */
export async function initiateFourPhase(side: HandshakeSide, peerDid: string): Promise<Initiation> {
  const { identity } = side;
  const startedMs = side.now();
  const signing = keyFor(identity.keys(), SIGNING, startedMs);
  const kem = keyFor(identity.keys(), AGREEING, startedMs);
  const ends: Ends = { ctx: side.newId(), initDid: identity.did, respDid: peerDid };
  const body = { initKid: signing.id, initKemKid: kem.id, suites: SUITES };
  const invitation = readShape(INVITATION, await signMessage("invitation", ends, body, { side, keyId: signing.id }));
  return new FourPhaseInitiator({ side, ends, invitation, signing, kem, startedMs });
}

interface Own {
  readonly side: HandshakeSide;
  readonly ends: Ends;
  readonly invitation: Invitation;
  readonly signing: PublicKey;
  readonly kem: PublicKey;
  readonly startedMs: number;
}

/** After the second message. */
interface Agreeing {
  readonly messages: Messages;
  readonly share: EphemeralKey;
  readonly peerShare: Uint8Array;
  readonly exports: readonly Uint8Array[];
  readonly peerSigning: PublicKey;
  readonly peerKem: PublicKey;
}

class FourPhaseInitiator implements Initiation {
  readonly first: Invitation;
  readonly #own: Own;
  #agreeing: Maybe<Agreeing>;
  #complete = false;

  constructor(own: Own) {
    this.#own = own;
    this.first = own.invitation;
  }

  async next(answer: unknown): Promise<Step> {
    if (this.#complete) throw new HandshakeError("handshake.replay", "the handshake is complete");
    const { side, startedMs } = this.#own;
    const now = side.now();
    if (now - startedMs >= HANDSHAKE_LIMITS.fourPhasePendingMs) throw new HandshakeError("handshake.expired");
    if (this.#agreeing !== undefined) return { session: this.#complete4(readShape(COMPLETE, answer), this.#agreeing, now) };
    this.#agreeing = await this.#respond(readShape(RESPONSE, answer), now);
    return { send: this.#agreeing.messages.request };
  }

  /** The second message; makes the third. */
  async #respond(response: Response, now: number): Promise<Agreeing> {
    const { side, ends, invitation, signing, kem } = this.#own;
    checkEnds(response, ends);
    checkTime(response, now);
    if (!SUITES.some((each) => each === response.suite)) throw new HandshakeError("handshake.suite", "not one of those offered");
    checkKeyOf(response.respKid, ends.respDid, "respKid");
    checkKeyOf(response.respKemKid, ends.respDid, "respKemKid");
    const keys = await side.keysOf(ends.respDid);
    const peerSigning = keyFor(keys, SIGNING, now, response.respKid);
    const peerKem = keyFor(keys, AGREEING, now, response.respKemKid);
    checkMessage(response, peerSigning);
    const h1 = hashOf(invitation);
    if (response.h1 !== encode(h1)) throw new HandshakeError("handshake.transcript", "the peer answers another invitation");
    const received = await openFrom(response.encB, kem, infoOf(LABELS.responseInfo, h1), side);
    const peerShare = openShare(() => received.open(decode(response.ctB), h1));
    const h2 = hashOf(response);
    const sealed = sealTo(peerKem, infoOf(LABELS.requestInfo, h2), side);
    const share = newShare(side);
    const body = { h2: encode(h2), encA: encode(sealed.enc), ctA: encode(sealed.seal(share.publicBytes, h2)) };
    const request = await signMessage("request", ends, body, { side, keyId: signing.id });
    const exports = [received.export(EXPORT_CONTEXT), sealed.export(EXPORT_CONTEXT)];
    return { messages: { invitation, response, request }, share, peerShare, exports, peerSigning, peerKem };
  }

  /** The fourth message. */
  #complete4(complete: Complete, agreeing: Agreeing, now: number): SageSession {
    const { side, ends, signing, kem } = this.#own;
    const { messages, share, peerShare, exports, peerSigning, peerKem } = agreeing;
    checkEnds(complete, ends);
    checkTime(complete, now);
    checkMessage(complete, peerSigning);
    const { kid } = complete;
    const { th, seed, ack } = fourPhaseSchedule(messages, kid, [agreed(share, peerShare), ...exports]);
    if (complete.th !== encode(th)) throw new HandshakeError("handshake.transcript", "th");
    if (!ack.matches(decode(complete.ackTag))) throw new HandshakeError("handshake.ack");
    const expiresAt = complete.expiresAt * 1_000;
    if (expiresAt <= now) throw new HandshakeError("handshake.expired", "the session has ended already");
    this.#complete = true;
    return new SageSession({
      secret: seed,
      transcript: th,
      role: "initiator",
      keyId: kid,
      ownDid: ends.initDid,
      peerDid: ends.respDid,
      pinned: [signing, kem, peerSigning, peerKem],
      pendingMs: HANDSHAKE_LIMITS.fourPhasePendingMs,
      expiresAt,
      now: () => side.now(),
    });
  }
}

/** Throws `handshake.sealed` for what another key or another handshake sealed. */
export function openShare(open: () => Uint8Array): Uint8Array {
  try {
    return open();
  } catch (thrown) {
    throw new HandshakeError("handshake.sealed", undefined, thrown);
  }
}

function checkEnds(message: Ends, { ctx, initDid, respDid }: Ends): void {
  if (message.ctx !== ctx || message.initDid !== initDid || message.respDid !== respDid)
    throw new HandshakeError("handshake.transcript", "the answer is of another handshake");
}
