import type { JsonObject } from "../../../envelope/index.js";
import type { PublicKey } from "../../../security/identity/index.js";
import { SageSession } from "../session/session.js";
import { HandshakeError } from "./handshake-error.js";
import {
  COMBINER,
  COMPLETE,
  COMPLETE_LABEL,
  completion,
  exportContextOf,
  hpkeSchedule,
  INIT,
  INIT_TASK,
  type Init,
  infoOf,
  SUITE,
  TRANSCRIPT,
  type Transcript,
  VERSION,
} from "./hpke-schedule.js";
import { checkKeyOf, decode, encode, readShape } from "./message-shape.js";
import {
  AGREEING,
  acceptOnce,
  agreed,
  checkSignature,
  HANDSHAKE_LIMITS,
  type HandshakeSide,
  keyFor,
  newNonce,
  newShare,
  openFrom,
  SIGNING,
  sealTo,
  signatureOf,
} from "./side.js";

/**
 * The signature under which a message came, and when it is accepted: what `SignatureVerifier` returns. The first message of this form has
 * no signature of its own.
 */
export interface SignedBy {
  readonly keyId: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The initiator's next step: a message to send, or the session. */
export type Step = { readonly send: JsonObject } | { readonly session: SageSession };

export interface Initiation {
  readonly first: JsonObject;
  /** Takes the answer to the last message. */
  next(answer: unknown): Promise<Step>;
}

export async function initiateHpke(side: HandshakeSide, peerDid: string): Promise<Initiation> {
  const { identity } = side;
  const startedMs = side.now();
  const peerKeys = await side.keysOf(peerDid);
  const own = keyFor(identity.keys(), SIGNING, startedMs);
  const signing = keyFor(peerKeys, SIGNING, startedMs);
  const kem = keyFor(peerKeys, AGREEING, startedMs);
  const binding = {
    v: VERSION,
    ctx: side.newId(),
    initDid: identity.did,
    respDid: peerDid,
    initKid: own.id,
    respKid: signing.id,
    kemKid: kem.id,
    suite: SUITE,
    combiner: COMBINER,
    nonce: newNonce(side),
  } as const;
  const info = infoOf(binding);
  const hpke = sealTo(kem, info, side);
  const share = newShare(side);
  const init: Init = { ...binding, task: INIT_TASK, enc: encode(hpke.enc), ephC: encode(share.publicBytes) };
  let answered = false;

  return {
    first: init,
    async next(answer) {
      if (answered) throw new HandshakeError("handshake.replay", "the handshake is complete");
      const { transcript, ackTagB64, sigB64 } = readComplete(answer);
      if (side.now() - startedMs >= HANDSHAKE_LIMITS.hpkePendingMs) throw new HandshakeError("handshake.expired");
      checkSame(init, transcript);
      checkSignature(completion(transcript, ackTagB64), COMPLETE_LABEL, signing, sigB64);
      const shared = agreed(share, decode(transcript.ephS));
      const { th, seed, ack } = hpkeSchedule(transcript, hpke.export(exportContextOf(info)), shared);
      if (!ack.matches(decode(ackTagB64))) throw new HandshakeError("handshake.ack");
      answered = true;
      return { session: sessionOf(side, { role: "initiator", transcript, th, seed, pinned: [own, signing, kem] }) };
    },
  };
}

/** The responder's half: the answer, and the session, which may send after the first valid message in it. */
export async function respondHpke(
  side: HandshakeSide,
  message: unknown,
  signedBy: SignedBy,
): Promise<{ readonly reply: JsonObject; readonly session: SageSession }> {
  const { identity } = side;
  const init = readShape(INIT, message);
  checkKeyOf(init.initKid, init.initDid, "initKid");
  checkKeyOf(init.respKid, init.respDid, "respKid");
  checkKeyOf(init.kemKid, init.respDid, "kemKid");
  if (init.respDid !== identity.did) throw new HandshakeError("handshake.recipient", `this is ${identity.did}`);
  if (signedBy.keyId !== init.initKid) throw new HandshakeError("handshake.signer", init.initKid);
  const now = side.now();
  const own = keyFor(identity.keys(), SIGNING, now, init.respKid);
  const kem = keyFor(identity.keys(), AGREEING, now, init.kemKid);
  const peer = keyFor(await side.keysOf(init.initDid), SIGNING, now, init.initKid);
  const untilMs = Math.max(signedBy.untilMs, now + HANDSHAKE_LIMITS.hpkePendingMs);
  await acceptOnce(side, { did: init.initDid, nonce: init.nonce, untilMs, fromMs: signedBy.fromMs });
  const info = infoOf(init);
  const hpke = await openFrom(init.enc, kem, info, side);
  const share = newShare(side);
  const transcript: Transcript = { ...init, ephS: encode(share.publicBytes), kid: side.newId() };
  const shared = agreed(share, decode(init.ephC));
  const { th, seed, ack } = hpkeSchedule(transcript, hpke.export(exportContextOf(info)), shared);
  const body = completion(transcript, encode(ack.tag()));
  const reply = { ...body, sigB64: await signatureOf(body, COMPLETE_LABEL, own.id, side) };
  return { reply, session: sessionOf(side, { role: "responder", transcript, th, seed, pinned: [peer, own, kem] }) };
}

function readComplete(answer: unknown) {
  const { transcript, ackTagB64, sigB64 } = readShape(COMPLETE, answer);
  return { transcript: readShape(TRANSCRIPT, transcript), ackTagB64, sigB64 };
}

/** The responder must have seen what was sent: suite, version, names and keys. */
function checkSame(init: Init, transcript: Transcript): void {
  for (const [name, value] of Object.entries(init))
    if (transcript[name as keyof Init] !== value) throw new HandshakeError("handshake.transcript", name); // a member of init
}

interface Outcome {
  readonly role: "initiator" | "responder";
  readonly transcript: Transcript;
  readonly th: Uint8Array;
  readonly seed: Uint8Array;
  readonly pinned: readonly PublicKey[];
}

function sessionOf(side: HandshakeSide, { role, transcript, th, seed, pinned }: Outcome): SageSession {
  const { initDid, respDid, kid } = transcript;
  const [ownDid, peerDid] = role === "initiator" ? [initDid, respDid] : [respDid, initDid];
  return new SageSession({
    secret: seed,
    transcript: th,
    role,
    keyId: kid,
    ownDid,
    peerDid,
    pinned,
    pendingMs: HANDSHAKE_LIMITS.hpkePendingMs,
    now: () => side.now(),
  });
}
