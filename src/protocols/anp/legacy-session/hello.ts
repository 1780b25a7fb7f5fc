import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { type Identity, type PublicKey, verifySignature } from "../../../security/identity/index.js";
import type { Chunk } from "../../../transport/exchange.js";
import { DecodeProblem, readArray, readInteger, readObject, readString } from "../../../transport/fields.js";
import { INNER_JSON_LIMITS, readJson } from "../../../transport/json.js";
import { readTimestamp, writeTimestamp } from "../../../transport/timestamp.js";
import { signaturesIn } from "../authentication/did-header.js";
import { handshakeError } from "../session/handshake-error.js";
import { addressOf, parseDidAll, secondsOf } from "./did-all.js";
import { CIPHER_SUITE, FRAME_VERSION, GROUP, KEY_FRAGMENT, KEY_TYPE, LEGACY_LIMITS, PROOF_TYPE } from "./profile.js";
import { pythonJson } from "./python-json.js";

/** What a hello says, once it is proved. */
export interface Hello {
  readonly sessionId: string;
  readonly sourceDid: string;
  readonly destinationDid: string;
  readonly random: string;
  /** The ephemeral key, an uncompressed point. */
  readonly share: Uint8Array;
  readonly expiresSeconds: number;
  readonly createdMs: number;
  readonly keyId: string;
}

/** What goes into a hello of this side. */
export interface OwnHello extends Pick<Hello, "sessionId" | "sourceDid" | "destinationDid" | "random" | "share"> {
  readonly messageId: string;
  readonly nowMs: number;
}

/** The key that signs hellos: P-256, because nothing else is known to the SDK. */
export interface LegacyKey {
  readonly identity: Identity;
  readonly key: PublicKey;
}

/** The members that every message has. */
export function common(type: string, messageId: string, nowMs: number): JsonObject {
  return { version: FRAME_VERSION, type, timestamp: writeTimestamp(nowMs), messageId };
}

export function sourceHello(own: OwnHello, key: LegacyKey): Promise<JsonObject> {
  return signedHello("sourceHello", own, key, {
    supportedVersions: [FRAME_VERSION],
    cipherSuites: [CIPHER_SUITE],
    supportedGroups: [GROUP],
    keyShares: [shareOf(own)],
    metaProtocol: { version: "1.0", protocolHash: null },
  });
}

export function destinationHello(own: OwnHello, key: LegacyKey): Promise<JsonObject> {
  return signedHello("destinationHello", own, key, {
    selectedVersion: FRAME_VERSION,
    cipherSuite: CIPHER_SUITE,
    keyShare: shareOf(own),
  });
}

function shareOf({ share }: OwnHello): JsonObject {
  return { group: GROUP, expires: LEGACY_LIMITS.expiresSeconds, keyExchange: hex(share) };
}

async function signedHello(type: string, own: OwnHello, { identity, key }: LegacyKey, more: JsonObject): Promise<JsonObject> {
  const { sessionId, sourceDid, destinationDid, random, messageId, nowMs } = own;
  const keyId = `${sourceDid}#${KEY_FRAGMENT}`;
  const proof = { type: PROOF_TYPE, verificationMethod: keyId, created: secondsOf(nowMs) };
  const verificationMethod = { id: keyId, type: KEY_TYPE, publicKeyHex: hex(key.bytes) };
  const hello = {
    ...common(type, messageId, nowMs),
    sessionId,
    sourceDid,
    destinationDid,
    verificationMethod,
    random,
    ...more,
    proof,
  };
  const signature = await identity.sign(key.id, Buffer.from(pythonJson(hello)));
  return { ...hello, proof: { ...proof, proofValue: Buffer.from(signature).toString("base64url") } };
}

/** A message of the handshake as JSON. Throws for one that is too long or no JSON. */
export function handshakeJson(frame: Chunk): JsonObject {
  if (typeof frame !== "string") throw handshakeError("malformed", "messages of the old session are text");
  if (frame.length > LEGACY_LIMITS.helloBytes)
    throw handshakeError("malformed", `a message of the handshake has at most ${LEGACY_LIMITS.helloBytes} characters`);
  try {
    return readObject(readJson(Buffer.from(frame), INNER_JSON_LIMITS), "message");
  } catch (thrown) {
    throw handshakeError("malformed", (thrown as Error).message); // DecodeProblem or AgentError
  }
}

/** Whether a first message is of the old session. It is looked at before anything else is decided. */
export function isSourceHello(frame: Chunk): boolean {
  if (typeof frame !== "string" || !frame.includes('"sourceHello"')) return false;
  try {
    return handshakeJson(frame)["type"] === "sourceHello";
  } catch {
    return false;
  }
}

/** Reads a hello and checks everything that it proves: the key belongs to the DID, and signed this hello just now. */
export function readHello(json: JsonObject, type: "sourceHello" | "destinationHello", nowMs: number): Hello {
  const { hello, key, signature } = decoded(json, type);
  if (addressOf(key.bytes) !== parseDidAll(hello.sourceDid)?.address)
    throw handshakeError("unknown_key", `the key of the hello is not that of ${hello.sourceDid}`);
  const { proofValue: _, ...proof } = readObject(json["proof"], "proof");
  const signed = Buffer.from(pythonJson({ ...json, proof }));
  if (!signaturesIn(signature, key).some((each) => verifySignature(key, "authentication", signed, each)))
    throw handshakeError("bad_signature", `the hello is not signed with ${key.id}`);
  const aheadMs = Math.abs(hello.createdMs - nowMs);
  // The time has whole seconds.
  if (aheadMs > LEGACY_LIMITS.skewMs + 999)
    throw handshakeError("not_of_now", `the clocks differ by ${aheadMs} ms; at most ${LEGACY_LIMITS.skewMs} are accepted`);
  return hello;
}

interface Decoded {
  readonly hello: Hello;
  readonly key: PublicKey;
  readonly signature: Uint8Array;
}

function decoded(json: JsonObject, type: "sourceHello" | "destinationHello"): Decoded {
  try {
    if (json["type"] !== type) throw new DecodeProblem("type", `must be ${type}`);
    const { suite, share } = type === "sourceHello" ? offered(json) : chosen(json);
    if (suite !== CIPHER_SUITE) throw handshakeError("unsupported_profile", `the only cipher suite is ${CIPHER_SUITE}`);
    if (share === undefined) throw handshakeError("unsupported_profile", `the only group is ${GROUP}`);
    const method = readObject(json["verificationMethod"], "verificationMethod");
    const proof = readObject(json["proof"], "proof");
    const sourceDid = readDid(json["sourceDid"], "sourceDid");
    const keyId = readString(method["id"], "verificationMethod.id");
    if (keyId !== `${sourceDid}#${KEY_FRAGMENT}` || proof["verificationMethod"] !== keyId)
      throw new DecodeProblem("proof.verificationMethod", `must be ${sourceDid}#${KEY_FRAGMENT}`);
    const bytes = hexIn(method["publicKeyHex"], "verificationMethod.publicKeyHex", POINT_BYTES);
    return {
      hello: {
        sessionId: hexIn(json["sessionId"], "sessionId", SESSION_BYTES).toString("hex"),
        sourceDid,
        destinationDid: readDid(json["destinationDid"], "destinationDid"),
        random: hexIn(json["random"], "random", RANDOM_BYTES).toString("hex"),
        share: hexIn(share["keyExchange"], "keyShare.keyExchange", POINT_BYTES),
        expiresSeconds: readInteger(share["expires"], "keyShare.expires"),
        createdMs: readTimestamp(readString(proof["created"], "proof.created"), "proof.created"),
        keyId,
      },
      key: { id: keyId, kind: "P-256", bytes, uses: ["authentication"] },
      signature: Buffer.from(readString(proof["proofValue"], "proof.proofValue").slice(0, MAX_SIGNATURE_CHARS), "base64url"),
    };
  } catch (thrown) {
    if (thrown instanceof DecodeProblem) throw handshakeError("malformed", thrown.message);
    throw thrown;
  }
}

interface Selected {
  readonly suite: unknown;
  readonly share: Maybe<JsonObject>;
}

function offered(json: JsonObject): Selected {
  const suites = readArray(json["cipherSuites"], "cipherSuites", readString);
  const shares = readArray(json["keyShares"], "keyShares", readObject);
  return { suite: suites.find((each) => each === CIPHER_SUITE), share: shares.find(({ group }) => group === GROUP) };
}

function chosen(json: JsonObject): Selected {
  const share = json["keyShare"];
  return { suite: json["cipherSuite"], share: isObject(share) && share["group"] === GROUP ? share : undefined };
}

const POINT_BYTES = 65;
const SESSION_BYTES = 16;
const RANDOM_BYTES = 32;
const MAX_SIGNATURE_CHARS = 128;

function readDid(value: unknown, path: string): string {
  const did = readString(value, path);
  if (parseDidAll(did) === undefined) throw new DecodeProblem(path, "must be a did:all");
  return did;
}

/** Lower case only: the random values are hashed as they are written. */
function hexIn(value: unknown, path: string, bytes: number): Buffer {
  const text = readString(value, path);
  if (text.length !== bytes * 2 || !/^[0-9a-f]+$/.test(text))
    throw new DecodeProblem(path, `must be ${bytes} bytes in hexadecimal`);
  return Buffer.from(text, "hex");
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
