import type { AgentError, Awaitable, Cancel, Maybe } from "../../../envelope/index.js";
import type { ProvenPeer } from "../../../security/admission.js";
import { type EphemeralKey, ephemeralKey, transcriptHash } from "../../../security/agreement/index.js";
import { authenticationKey, type Identity, verifySignature } from "../../../security/identity/index.js";
import { RecordError, SealedChannel, sessionSecret } from "../../../security/sealed-records/index.js";
import type { Chunk } from "../../../transport/exchange.js";
import type { ProtocolContext } from "../../protocol.js";
import { signingKeyOf } from "../identity/own-identity.js";
import { handshakeError } from "./handshake-error.js";
import {
  bytesIn,
  type ClientHello,
  readAccepted,
  readClientHello,
  readFinish,
  readSignedHello,
  type ServerHello,
  toBase64url,
  writeAccepted,
  writeFinish,
  writeServerHello,
  writeSignedHello,
} from "./hello.js";
import { KEY_BYTES, LABELS, NONCE_BYTES, PROFILES, RECORDS, SESSION_LIMITS } from "./profile.js";
import { openHandshakeRecord, sealHandshakeRecord } from "./record-kinds.js";

/** What a handshake needs of the side that begins it. */
export interface InitiatingSide {
  readonly context: Pick<ProtocolContext, "resolver" | "now">;
  readonly identity: Identity;
  readonly cancel: Cancel;
  /** For test vectors. Default: random. */
  readonly fixed?: Maybe<{ readonly ephemeral: Uint8Array; readonly nonce: Uint8Array }>;
}

/** What it needs of the side that answers. */
export interface HandshakeSide extends InitiatingSide {
  readonly context: Pick<ProtocolContext, "resolver" | "replay" | "now">;
}

/** Sends and receives the messages of a handshake. */
export interface HandshakeMessages {
  send(frame: Chunk): Awaitable<void>;
  next(): Promise<Chunk>;
}

/** Whom a client wants to talk to: the DID to be proved, and the address that it opens. */
export interface Recipient {
  readonly did: string;
  readonly authority: string;
  readonly path: string;
}

/** The client's half: throws unless the server proves that it is the recipient, and accepts the client. */
export async function initiate(messages: HandshakeMessages, side: InitiatingSide, to: Recipient): Promise<SealedChannel> {
  const own = freshKeys(side);
  const { identity, context } = side;
  const hello: ClientHello = {
    type: "clientHello",
    version: "1",
    profiles: PROFILES,
    did: identity.did,
    keyId: signingKeyOf(identity).id,
    to: to.did,
    authority: to.authority,
    path: to.path,
    ephemeral: toBase64url(own.key.publicBytes),
    nonce: toBase64url(own.nonce),
    at: context.now(),
  };
  const clientText = JSON.stringify(hello);
  await messages.send(clientText);
  const answer = readSignedHello(await messages.next());
  const server = answer.hello;
  if (server.did !== to.did)
    throw handshakeError("wrong_identity", `the peer claims to be ${server.did}, and ${to.did} was called`);
  if (!PROFILES.some((each) => each === server.profile))
    throw handshakeError("unsupported_profile", `the peer chose a profile that was not offered: ${server.profile.slice(0, 100)}`);
  const transcript = transcriptOf(clientText, answer.text);
  await verify(server, signedBytes(LABELS.serverSignature, transcript), answer.signature, side);
  const channel = channelOf(agreed(own.key, server.ephemeral), transcript, "initiator", side);
  const signature = await identity.sign(hello.keyId, signedBytes(LABELS.clientSignature, transcript));
  await messages.send(sealHandshakeRecord(channel, writeFinish(signature)));
  const accepted = await messages.next();
  // A refusal before the keys were known to both sides is in clear.
  if (typeof accepted === "string") readSignedHello(accepted);
  readAccepted(openRecord(channel, accepted));
  return channel;
}

/** What a server decides about a handshake. */
export interface Responding {
  /** Where this server is reached, as clients address it. */
  readonly authority: string;
  readonly path: string;
  /** The DID is proved: is it welcome? Throws AgentError. */
  admit(peer: ProvenPeer): Promise<void>;
}

/**
 * The server's half. Cheap checks come first; a signature is made after them, and a DID is resolved only for a client that has
 * answered it.
 */
export async function respond(messages: HandshakeMessages, side: HandshakeSide, rules: Responding): Promise<SealedChannel> {
  const frame = await messages.next();
  const client = readClientHello(frame);
  checkHello(client, side, rules);
  const own = freshKeys(side);
  const { identity, context } = side;
  const hello: ServerHello = {
    type: "serverHello",
    version: "1",
    profile: PROFILES[0],
    did: identity.did,
    keyId: signingKeyOf(identity).id,
    ephemeral: toBase64url(own.key.publicBytes),
    nonce: toBase64url(own.nonce),
    at: context.now(),
  };
  const serverText = writeServerHello(hello);
  const transcript = transcriptOf(String(frame), serverText);
  const channel = channelOf(agreed(own.key, client.ephemeral), transcript, "responder", side);
  const signature = await identity.sign(hello.keyId, signedBytes(LABELS.serverSignature, transcript));
  await messages.send(writeSignedHello(serverText, signature));
  const finish = readFinish(openRecord(channel, await messages.next()));
  await verify(client, signedBytes(LABELS.clientSignature, transcript), finish, side);
  // The nonce of the server makes every handshake a new one, as young as its hello. The guard refuses a client that repeats its own.
  const { skewMs } = SESSION_LIMITS;
  if (!(await context.replay.add(client.did, client.nonce, Math.max(client.at, hello.at) + 2 * skewMs, hello.at)))
    throw handshakeError("replayed", "this hello was used before");
  await rules.admit({ did: client.did, keyId: client.keyId });
  await messages.send(sealHandshakeRecord(channel, writeAccepted()));
  return channel;
}

/** What can be said about a hello without a signature and without asking anybody. */
function checkHello(client: ClientHello, { identity, context }: HandshakeSide, { authority, path }: Responding): void {
  if (client.to !== identity.did)
    throw handshakeError("wrong_recipient", `the hello is for ${client.to}, and this is ${identity.did}`);
  if (client.authority !== authority || client.path !== path)
    throw handshakeError(
      "wrong_recipient",
      `the hello is for ${client.authority}${client.path}, and this is ${authority}${path}`,
    );
  if (!client.profiles.includes(PROFILES[0]))
    throw handshakeError("unsupported_profile", `offer one of these profiles: ${PROFILES.join(", ")}`);
  const aheadMs = client.at - context.now();
  if (Math.abs(aheadMs) > SESSION_LIMITS.skewMs)
    throw handshakeError(
      "not_of_now",
      `the clocks differ by ${Math.abs(aheadMs)} ms; at most ${SESSION_LIMITS.skewMs} are accepted`,
    );
  if (context.replay.seen(client.did, client.nonce)) throw handshakeError("replayed", "this hello was used before");
}

async function verify(
  { keyId }: Pick<ClientHello, "keyId">,
  signed: Uint8Array,
  signature: Uint8Array,
  { context, cancel }: InitiatingSide,
): Promise<void> {
  const key = await authenticationKey(keyId, { resolver: context.resolver, now: () => context.now(), cancel });
  if (key === undefined)
    throw handshakeError("unknown_key", `${keyId} is not a valid key for authentication in the document of its DID`);
  if (!verifySignature(key, "authentication", signed, signature))
    throw handshakeError("bad_signature", `the handshake is not signed with ${keyId}`);
}

function signedBytes(label: string, transcript: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(label), transcript]);
}

function transcriptOf(client: string, server: string): Uint8Array {
  return transcriptHash(LABELS.transcript, [Buffer.from(client), Buffer.from(server)]);
}

function channelOf(
  shared: Uint8Array,
  transcript: Uint8Array,
  role: "initiator" | "responder",
  { context }: InitiatingSide,
): SealedChannel {
  const secret = sessionSecret(shared, transcript, LABELS.secret);
  return new SealedChannel({ secret, transcript, role, profile: RECORDS, now: () => context.now() });
}

function agreed(own: EphemeralKey, peer: string): Uint8Array {
  try {
    return own.agree(bytesIn(peer, "ephemeral", KEY_BYTES));
  } catch (thrown) {
    throw handshakeError("bad_ephemeral_key", (thrown as AgentError).message); // `agree` throws nothing else
  }
}

function freshKeys({ fixed }: InitiatingSide): { readonly key: EphemeralKey; readonly nonce: Uint8Array } {
  if (fixed !== undefined) return { key: ephemeralKey(fixed.ephemeral), nonce: fixed.nonce };
  return { key: ephemeralKey(), nonce: crypto.getRandomValues(new Uint8Array(NONCE_BYTES)) };
}

/** Whoever did not take part in this handshake has other keys. */
function openRecord(channel: SealedChannel, frame: Chunk): string {
  try {
    return openHandshakeRecord(channel, frame);
  } catch (thrown) {
    if (!(thrown instanceof RecordError)) throw thrown;
    throw handshakeError("bad_finish", `the first record is refused: ${thrown.problem}`);
  }
}
