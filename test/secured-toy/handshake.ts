import { createHash, createPublicKey, diffieHellman, type KeyObject, randomBytes } from "node:crypto";
import { AgentError, type Cancel, isObject, type Maybe } from "../../src/envelope/index.js";
import type { ProtocolContext } from "../../src/protocols/protocol.js";
import { didOfUrl, type Identity, verifySignature } from "../../src/security/identity/index.js";
import type { ProvenPeer } from "../../src/security/index.js";
import { newPrivateKey } from "../../src/security/new-key.js";
import { SealedChannel, sessionSecret } from "../../src/security/sealed-records/index.js";
import type { Chunk, Session } from "../../src/transport/exchange.js";
import { keyNamed, signingKeyOf } from "./identity.js";
import { LIFETIME_MS, RECORDS, SKEW_MS, SUBPROTOCOL } from "./wire.js";

/** What a handshake needs of its side. */
export interface Side {
  readonly context: Pick<ProtocolContext, "resolver" | "replay" | "now">;
  readonly identity: Identity;
  readonly cancel: Cancel;
}

interface Hello {
  readonly did: string;
  readonly keyId: string;
  readonly ephemeral: string;
  readonly to?: string;
  readonly nonce?: string;
  readonly at?: number;
}

/** The client's half: throws unless the server proves that it is `to`. */
export async function initiate(session: Session, frames: AsyncIterator<Chunk>, side: Side, to: string): Promise<SealedChannel> {
  const own = ephemeralKey();
  const { did } = side.identity;
  const keyId = signingKeyOf(side.identity).id;
  const nonce = randomBytes(16).toString("base64url");
  const hello = JSON.stringify({ did, keyId, to, ephemeral: own.shown, nonce, at: side.context.now() });
  await session.send(await signed(side.identity, hello, "client"));
  const answer = await received(frames);
  const server = await verified(answer, side, `server ${digest(hello)}`);
  if (server.did !== to) throw new AgentError("bad_signature", `the peer proved to be ${server.did.slice(0, 200)}, not ${to}`);
  return channelOf(own.secretWith(server.ephemeral), [hello, answer.hello], "initiator", side);
}

/** The server's half: who the client is. Each hello is accepted once, by one recipient, within its time. */
export async function respond(
  session: Session,
  frames: AsyncIterator<Chunk>,
  side: Side,
  admit: (peer: ProvenPeer) => Promise<void>,
): Promise<SealedChannel> {
  const first = await received(frames);
  const client = await verified(first, side, "client");
  await checkFresh(client, side);
  await admit({ did: client.did, keyId: client.keyId });
  const own = ephemeralKey();
  const keyId = signingKeyOf(side.identity).id;
  const hello = JSON.stringify({ did: side.identity.did, keyId, ephemeral: own.shown });
  await session.send(await signed(side.identity, hello, `server ${digest(first.hello)}`));
  return channelOf(own.secretWith(client.ephemeral), [first.hello, hello], "responder", side);
}

async function checkFresh({ did, to, nonce, at }: Hello, { identity, context }: Side): Promise<void> {
  if (to !== identity.did) throw refused("the hello is for another recipient");
  if (typeof at !== "number" || typeof nonce !== "string") throw refused("the hello has no time or nonce");
  const now = context.now();
  if (at - SKEW_MS > now || at + LIFETIME_MS + SKEW_MS <= now) throw refused("the hello is not of now");
  // A repeated hello opens nothing without its ephemeral key: right after a start the skew need not be waited for.
  if (!(await context.replay.add(did, nonce, at + LIFETIME_MS + SKEW_MS, at))) throw refused("this hello was used before");
}

async function signed(identity: Identity, hello: string, label: string): Promise<string> {
  const signature = await identity.sign(signingKeyOf(identity).id, signedBytes(hello, label));
  return JSON.stringify({ hello, signature: Buffer.from(signature).toString("base64url") });
}

function signedBytes(hello: string, label: string): Uint8Array {
  return Buffer.from(`${SUBPROTOCOL} ${label}\n${hello}`);
}

interface Received {
  readonly hello: string;
  readonly signature: Uint8Array;
}

async function received(frames: AsyncIterator<Chunk>): Promise<Received> {
  const { value, done } = await frames.next();
  if (done === true) throw new AgentError("unavailable", "the session ended during the handshake", { sent: "no" });
  const wire = objectIn(typeof value === "string" ? value : "");
  const error = wire["error"];
  if (isObject(error)) throw refused(`the peer refused the handshake: ${String(error["code"]).slice(0, 100)}`);
  const { hello, signature } = wire;
  if (typeof hello !== "string" || typeof signature !== "string") throw refused("the first message is not a signed hello");
  return { hello, signature: Buffer.from(signature, "base64url") };
}

async function verified({ hello, signature }: Received, { context, cancel }: Side, label: string): Promise<Hello> {
  const { did, keyId, ephemeral, ...more } = objectIn(hello);
  if (typeof did !== "string" || typeof keyId !== "string" || typeof ephemeral !== "string")
    throw refused("the hello names no DID, key or ephemeral key");
  if (didOfUrl(keyId) !== did) throw refused("the key is of another DID");
  const key = await keyNamed(context.resolver, keyId, { now: () => context.now(), cancel });
  if (key === undefined) throw refused("the key of the hello is not one of its DID");
  if (!verifySignature(key, "authentication", signedBytes(hello, label), signature)) throw refused("the signature is wrong");
  return { did, keyId, ephemeral, ...more };
}

function channelOf(agreed: Uint8Array, hellos: readonly string[], role: "initiator" | "responder", side: Side): SealedChannel {
  const transcript = createHash("sha256").update(hellos.join("\n")).digest();
  const secret = sessionSecret(agreed, transcript, SUBPROTOCOL);
  return new SealedChannel({ secret, transcript, role, profile: RECORDS, now: () => side.context.now() });
}

interface EphemeralKey {
  readonly shown: string;
  secretWith(other: string): Uint8Array;
}

function ephemeralKey(): EphemeralKey {
  const privateKey = newPrivateKey("X25519");
  return {
    shown: createPublicKey(privateKey).export({ format: "jwk" }).x ?? "",
    secretWith: (other) => diffieHellman({ privateKey, publicKey: importX25519(other) }),
  };
}

function importX25519(x: string): KeyObject {
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
  } catch {
    throw refused("the ephemeral key is not an X25519 key");
  }
}

function objectIn(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function refused(why: string): AgentError {
  return new AgentError("unauthenticated", why);
}

/** The name of an error for the peer of a failed handshake. */
export function refusalFrame(thrown: unknown): string {
  const error: Maybe<AgentError> = thrown instanceof AgentError ? thrown : undefined;
  return JSON.stringify({ error: { code: error?.code ?? "internal", message: error?.message ?? "the handshake failed" } });
}
