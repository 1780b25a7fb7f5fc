import type { JsonObject } from "../../../envelope/index.js";
import type { ProvenPeer } from "../../../security/admission.js";
import { type EphemeralKey, p256EphemeralKey } from "../../../security/agreement/index.js";
import { randomHex } from "../../../security/hashes.js";
import type { Chunk } from "../../../transport/exchange.js";
import type { ProtocolContext } from "../../protocol.js";
import type { HandshakeMessages } from "../session/handshake.js";
import { handshakeError } from "../session/handshake-error.js";
import { ChannelError, LegacyChannel } from "./channel.js";
import { addressOf, parseDidAll, provedDid } from "./did-all.js";
import { common, destinationHello, type Hello, handshakeJson, type LegacyKey, readHello, sourceHello } from "./hello.js";
import { legacyKeys } from "./key-schedule.js";
import { LEGACY_LIMITS } from "./profile.js";

/** What a handshake needs of its side. */
export interface LegacySide {
  readonly context: Pick<ProtocolContext, "now" | "replay">;
  readonly key: LegacyKey;
}

/** The two ends of a session, and what both know now. */
export interface Shaken {
  readonly channel: LegacyChannel;
  readonly ownDid: string;
  readonly peerDid: string;
  /** Messages that arrived before the peer was known to read, and the one that is still to come. */
  readonly early: readonly (Chunk | Promise<Chunk>)[];
  /** The peer has answered a heartbeat. */
  readonly isReading: boolean;
}

/** The initiator's half. `ownDid` is that of the key; the peer's is what the user named. */
export async function initiate(
  messages: HandshakeMessages,
  { context, key }: LegacySide,
  { ownDid, peerDid }: Pick<Shaken, "ownDid" | "peerDid">,
): Promise<Shaken> {
  const own = ownShare();
  const sessionId = randomHex(16);
  const hello = { sessionId, sourceDid: ownDid, destinationDid: peerDid, messageId: randomHex(16), nowMs: context.now(), ...own };
  await send(messages, await sourceHello(hello, key));
  const answer = readHello(answerIn(await messages.next()), "destinationHello", context.now());
  if (answer.sourceDid !== peerDid)
    throw handshakeError("wrong_identity", `the peer claims to be ${answer.sourceDid}, and ${peerDid} was called`);
  if (answer.destinationDid !== ownDid || answer.sessionId !== sessionId)
    throw handshakeError("wrong_recipient", "the peer answered another hello");
  const keys = legacyKeys(agreed(own.key, answer), own.random, answer.random);
  const channel = new LegacyChannel({ keys, role: "initiator", ...lifeOf(answer, context) });
  const ends = { sessionId, ownDid, peerDid };
  const theirs = messages.next();
  await waitingFor(theirs, LEGACY_LIMITS.peerFinishMs);
  await send(messages, finished(channel, ends, context));
  checkFinished(channel, handshakeJson(await theirs), ends);
  return { channel, ownDid, peerDid, ...(await untilReading(messages, context)) };
}

/**
 * A peer of the SDK drops what arrives before it reads its first message, and may get stuck for 15 s by what arrives while it ends its
 * part of the handshake. So nothing is sent for a moment, then heartbeats until one is answered.
 */
async function untilReading(
  messages: HandshakeMessages,
  context: LegacySide["context"],
): Promise<Pick<Shaken, "early" | "isReading">> {
  const early: Chunk[] = [];
  let next = messages.next();
  next.catch(() => undefined); // its reader is told
  await after(LEGACY_LIMITS.quietMs);
  for (let tries = 0; tries < LEGACY_LIMITS.readyTries; tries++) {
    await send(messages, { ...common("heartbeat", randomHex(16), context.now()), message: "ping" });
    const frame = await Promise.race([next, after(LEGACY_LIMITS.readyEveryMs)]);
    if (frame === undefined) continue;
    if (isPong(frame)) return { early, isReading: true };
    early.push(frame);
    next = messages.next();
  }
  next.catch(() => undefined);
  return { early: [...early, next], isReading: false };
}

function isPong(frame: Chunk): boolean {
  return typeof frame === "string" && frame.length < LEGACY_LIMITS.helloBytes && handshakeJson(frame)["type"] === "heartbeat";
}

/** What a responder decides. */
export interface LegacyRules {
  /** Where this side is reached: the only host that a called DID may name. */
  readonly authority: string;
  /** The key of the DID is proved: is it welcome? Throws AgentError. */
  admit(peer: ProvenPeer): Promise<void>;
}

/** The responder's half, after the hello of the peer. */
export async function respond(messages: HandshakeMessages, side: LegacySide, rules: LegacyRules, first: Chunk): Promise<Shaken> {
  const { context, key } = side;
  const hello = readHello(handshakeJson(first), "sourceHello", context.now());
  const called = parseDidAll(hello.destinationDid);
  if (called?.address !== addressOf(key.key.bytes) || (called.host !== undefined && called.host !== rules.authority))
    throw handshakeError("wrong_recipient", `the hello is for ${hello.destinationDid}, and this is another one`);
  const did = provedDid(hello.sourceDid);
  // The SDK accepts a hello again for 30 s. The guard does not.
  const untilMs = Math.max(hello.createdMs, context.now()) + 2 * LEGACY_LIMITS.skewMs;
  if (!(await context.replay.add(did, hello.random, untilMs, context.now())))
    throw handshakeError("replayed", "this hello was used before");
  const own = ownShare();
  const { sessionId } = hello;
  const [ownDid, peerDid] = [hello.destinationDid, hello.sourceDid];
  const answer = {
    sessionId,
    sourceDid: ownDid,
    destinationDid: peerDid,
    messageId: randomHex(16),
    nowMs: context.now(),
    ...own,
  };
  await send(messages, await destinationHello(answer, key));
  const keys = legacyKeys(agreed(own.key, hello), hello.random, own.random);
  const channel = new LegacyChannel({ keys, role: "responder", ...lifeOf(hello, context) });
  const ends = { sessionId, ownDid, peerDid };
  const theirs = messages.next();
  await waitingFor(theirs, LEGACY_LIMITS.finishFirstMs);
  await send(messages, finished(channel, ends, context));
  checkFinished(channel, handshakeJson(await theirs), ends);
  await rules.admit({ did, keyId: `${did}${hello.keyId.slice(hello.sourceDid.length)}` });
  return { channel, ownDid, peerDid, early: [], isReading: true };
}

interface Ends extends Pick<Shaken, "ownDid" | "peerDid"> {
  readonly sessionId: string;
}

function finished(channel: LegacyChannel, { sessionId, ownDid, peerDid }: Ends, context: LegacySide["context"]): JsonObject {
  const verifyData = channel.seal(Buffer.from(JSON.stringify({ secretKeyId: channel.secretKeyId })));
  return {
    ...common("finished", randomHex(16), context.now()),
    sessionId,
    sourceDid: ownDid,
    destinationDid: peerDid,
    verifyData,
  };
}

/** The peer has the keys: only then is it who signed the hello. */
function checkFinished(channel: LegacyChannel, json: JsonObject, { sessionId, ownDid, peerDid }: Ends): void {
  if (json["type"] !== "finished") throw handshakeError("malformed", "expected the end of the handshake");
  if (json["sessionId"] !== sessionId || json["sourceDid"] !== peerDid || json["destinationDid"] !== ownDid)
    throw handshakeError("bad_finish", "the end of another handshake");
  try {
    const plain: unknown = JSON.parse(Buffer.from(channel.open(json["verifyData"])).toString("utf8"));
    if ((plain as { readonly secretKeyId?: unknown } | null)?.secretKeyId === channel.secretKeyId) return;
  } catch (thrown) {
    if (!(thrown instanceof ChannelError) && !(thrown instanceof SyntaxError)) throw thrown;
  }
  throw handshakeError("bad_finish", "the peer does not have the keys of this handshake");
}

/** A peer that refuses a hello says why. */
function answerIn(frame: Chunk): JsonObject {
  const json = handshakeJson(frame);
  if (json["type"] !== "response") return json;
  throw handshakeError("refused_by_peer", `the peer refused the old session: ${String(json["detail"]).slice(0, 200)}`);
}

function ownShare(): { readonly key: EphemeralKey; readonly share: Uint8Array; readonly random: string } {
  const key = p256EphemeralKey();
  return { key, share: key.publicBytes, random: randomHex(32) };
}

function agreed(own: EphemeralKey, { share }: Hello): Uint8Array {
  try {
    return own.agree(share);
  } catch (thrown) {
    throw handshakeError("bad_ephemeral_key", (thrown as Error).message); // `agree` throws nothing else
  }
}

/** The shorter of both lives; the SDK offers ten days and ends none. */
function lifeOf({ expiresSeconds }: Hello, { now }: LegacySide["context"]) {
  const seconds = Math.max(0, Math.min(expiresSeconds, LEGACY_LIMITS.expiresSeconds));
  return { expiresAtMs: now() + seconds * 1_000, now };
}

async function send(messages: HandshakeMessages, message: JsonObject): Promise<void> {
  await messages.send(JSON.stringify(message));
}

/** The SDK loses a `finished` that arrives before it waits for it, which it does a tick after it has sent its own. */
async function waitingFor(theirs: Promise<Chunk>, mostMs: number): Promise<void> {
  await Promise.race([theirs.catch(() => undefined), after(mostMs)]);
  await after(LEGACY_LIMITS.tickMs);
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });
}
