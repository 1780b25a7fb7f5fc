import type { JsonObject } from "../../../envelope/index.js";
import type { EphemeralKey } from "../../../security/agreement/index.js";
import type { PublicKey } from "../../../security/identity/index.js";
import { RECORDS } from "../session/profile.js";
import { SageSession } from "../session/session.js";
import { openShare } from "./four-phase-initiator.js";
import {
  checkMessage,
  checkTime,
  completeBody,
  type Ends,
  EXPORT_CONTEXT,
  fourPhaseSchedule,
  hashOf,
  INVITATION,
  type Invitation,
  infoOf,
  LABELS,
  REQUEST,
  type Request,
  type Response,
  SUITES,
  signMessage,
} from "./four-phase-messages.js";
import { HandshakeError } from "./handshake-error.js";
import { checkKeyOf, decode, encode, readShape } from "./message-shape.js";
import {
  AGREEING,
  acceptOnce,
  agreed,
  HANDSHAKE_LIMITS,
  type HandshakeSide,
  isReplayed,
  keyFor,
  newShare,
  openFrom,
  SIGNING,
  sealTo,
} from "./side.js";

/** A handshake that waits for its third message. */
interface Pending {
  readonly invitation: Invitation;
  readonly response: Response;
  readonly share: EphemeralKey;
  readonly exported: Uint8Array;
  readonly own: { readonly signing: PublicKey; readonly kem: PublicKey };
  readonly peer: { readonly signing: PublicKey; readonly kem: PublicKey };
  readonly startedMs: number;
}

/** The responder of four-phase handshakes: takes invitations and requests. What is pending is bounded, and has a share for each peer. */
export class FourPhaseResponder {
  readonly #side: HandshakeSide;
  /** By initiator and context, the oldest first: all have the same life. */
  readonly #pending = new Map<string, Pending>();
  readonly #perPeer = new Map<string, number>();

  constructor(side: HandshakeSide) {
    this.#side = side;
  }

  /** The first message. Cheap checks come first, keys are resolved after them. */
  async invitation(message: unknown): Promise<JsonObject> {
    const side = this.#side;
    const invitation = readShape(INVITATION, message);
    const { initDid, initKid, initKemKid, nonce } = invitation;
    checkKeyOf(initKid, initDid, "initKid");
    checkKeyOf(initKemKid, initDid, "initKemKid");
    this.#checkRecipient(invitation);
    const now = side.now();
    const times = checkTime(invitation, now);
    if (isReplayed(side, initDid, nonce)) throw new HandshakeError("handshake.replay");
    const suite = SUITES.find((each) => invitation.suites.includes(each));
    if (suite === undefined) throw new HandshakeError("handshake.suite", `offer ${SUITES.join(", ")}`);
    const keys = await side.keysOf(initDid);
    const peer = { signing: keyFor(keys, SIGNING, now, initKid), kem: keyFor(keys, AGREEING, now, initKemKid) };
    checkMessage(invitation, peer.signing);
    this.#checkRoom(initDid, now);
    await acceptOnce(side, { did: initDid, nonce, ...times });
    const ownKeys = side.identity.keys();
    const own = { signing: keyFor(ownKeys, SIGNING, now), kem: keyFor(ownKeys, AGREEING, now) };
    const h1 = hashOf(invitation);
    const sealed = sealTo(peer.kem, infoOf(LABELS.responseInfo, h1), side);
    const share = newShare(side);
    const body = {
      respKid: own.signing.id,
      respKemKid: own.kem.id,
      suite,
      h1: encode(h1),
      encB: encode(sealed.enc),
      ctB: encode(sealed.seal(share.publicBytes, h1)),
    };
    const response = await signMessage("response", invitation, body, { side, keyId: own.signing.id });
    this.#add({ invitation, response, share, exported: sealed.export(EXPORT_CONTEXT), own, peer, startedMs: now });
    return response;
  }

  /** The third message. Each handshake is completed once. */
  async request(message: unknown): Promise<{ readonly reply: JsonObject; readonly session: SageSession }> {
    const side = this.#side;
    const request = readShape(REQUEST, message);
    const { initDid, nonce } = request;
    this.#checkRecipient(request);
    const now = side.now();
    const times = checkTime(request, now);
    const pending = this.#pending.get(nameOf(request));
    if (pending === undefined)
      throw new HandshakeError(isReplayed(side, initDid, nonce) ? "handshake.replay" : "handshake.unknown");
    if (now - pending.startedMs >= HANDSHAKE_LIMITS.fourPhasePendingMs) throw new HandshakeError("handshake.expired");
    const { invitation, response, own, peer } = pending;
    checkMessage(request, peer.signing);
    const h2 = hashOf(response);
    if (request.h2 !== encode(h2)) throw new HandshakeError("handshake.transcript", "the peer answers another response");
    this.#remove(pending); // before anything is awaited: a second one finds nothing
    await acceptOnce(side, { did: initDid, nonce, ...times });
    const received = await openFrom(request.encA, own.kem, infoOf(LABELS.requestInfo, h2), side);
    const peerShare = openShare(() => received.open(decode(request.ctA), h2));
    const kid = side.newId();
    const secrets = [agreed(pending.share, peerShare), pending.exported, received.export(EXPORT_CONTEXT)];
    const schedule = fourPhaseSchedule({ invitation, response, request }, kid, secrets);
    const session = this.#session(request, kid, { schedule, pinned: [peer.signing, peer.kem, own.signing, own.kem] });
    const body = completeBody(schedule, kid, session.expiresAt);
    return { reply: await signMessage("complete", request, body, { side, keyId: own.signing.id }), session };
  }

  #session(
    { initDid, respDid }: Request,
    keyId: string,
    { schedule, pinned }: { readonly schedule: ReturnType<typeof fourPhaseSchedule>; readonly pinned: readonly PublicKey[] },
  ): SageSession {
    const side = this.#side;
    return new SageSession({
      secret: schedule.seed,
      transcript: schedule.th,
      role: "responder",
      keyId,
      ownDid: respDid,
      peerDid: initDid,
      pinned,
      pendingMs: HANDSHAKE_LIMITS.fourPhasePendingMs,
      // Whole seconds, as the initiator is told.
      expiresAt: Math.floor((side.now() + RECORDS.lifetimeMs) / 1_000) * 1_000,
      now: () => side.now(),
    });
  }

  #checkRecipient({ respDid }: Ends): void {
    const { did } = this.#side.identity;
    if (respDid !== did) throw new HandshakeError("handshake.recipient", `this is ${did}`);
  }

  #checkRoom(did: string, now: number): void {
    for (const pending of this.#pending.values()) {
      if (now - pending.startedMs < HANDSHAKE_LIMITS.fourPhasePendingMs) break;
      this.#remove(pending);
    }
    const { pending, pendingPerPeer } = HANDSHAKE_LIMITS;
    if (this.#pending.size >= pending || (this.#perPeer.get(did) ?? 0) >= pendingPerPeer)
      throw new HandshakeError("handshake.full");
  }

  #add(pending: Pending): void {
    const name = nameOf(pending.invitation);
    if (this.#pending.has(name)) throw new HandshakeError("handshake.replay", "ctx is in use");
    const { initDid } = pending.invitation;
    this.#pending.set(name, pending);
    this.#perPeer.set(initDid, (this.#perPeer.get(initDid) ?? 0) + 1);
  }

  #remove({ invitation }: Pending): void {
    this.#pending.delete(nameOf(invitation));
    const left = (this.#perPeer.get(invitation.initDid) ?? 0) - 1;
    if (left > 0) this.#perPeer.set(invitation.initDid, left);
    else this.#perPeer.delete(invitation.initDid);
  }
}

function nameOf({ initDid, ctx }: Ends): string {
  return `${initDid} ${ctx}`;
}
