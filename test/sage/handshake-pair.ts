import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import type { JsonObject } from "../../src/envelope/index.js";
import type { HandshakeForm, HandshakeSide, SignedBy } from "../../src/protocols/sage/handshake/index.js";
import { establish, Responder } from "../../src/protocols/sage/handshake/index.js";
import type { SageSession } from "../../src/protocols/sage/session/index.js";
import { ephemeralKey } from "../../src/security/agreement/index.js";
import { createIdentity, type Identity, type PublicKey } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";

/** Two agents whose handshakes pass through the test, which may alter them. */

export const START = Date.parse("2026-11-17T12:00:00Z");

export interface Side extends HandshakeSide {
  identity: Identity;
}

export class Agents {
  nowMs = START;
  /** What a registry would say. */
  readonly records = new Map<string, readonly PublicKey[]>();
  readonly ann: Side;
  readonly bob: Side;
  responder: Responder;
  #ids = 0;

  constructor(ann: Identity = agent("a"), bob: Identity = agent("b")) {
    this.ann = this.side(ann);
    this.bob = this.side(bob);
    this.responder = new Responder(this.bob);
  }

  side(identity: Identity): Side {
    this.records.set(identity.did, identity.keys());
    const now = (): number => this.nowMs;
    return {
      identity,
      keysOf: (did) => this.records.get(did) ?? [],
      replay: createReplayGuard({ limits: DEFAULT_LIMITS, now, knownSinceMs: 0 }),
      now,
      newId: () => `00000000-0000-4000-8000-${String(++this.#ids).padStart(12, "0")}`,
    };
  }

  /** As the envelope of a request of Ann says. */
  signedBy(identity: Identity = this.ann.identity): SignedBy {
    return { keyId: signingKey(identity).id, fromMs: this.nowMs - 30_000, untilMs: this.nowMs + 330_000 };
  }

  /** Both halves of a session. `alter`: what somebody in between makes of each message, counted from 1. */
  async connect(
    form: HandshakeForm,
    alter: (message: JsonObject, step: number) => unknown = (message) => message,
  ): Promise<{ readonly ann: SageSession; readonly bob: SageSession; readonly messages: readonly JsonObject[] }> {
    const messages: JsonObject[] = [];
    let bob: SageSession | undefined;
    let step = 0;
    const ann = await establish(this.ann, { peerDid: this.bob.identity.did, form }, async (message) => {
      messages.push(message);
      const { reply, session } = await this.responder.receive(await alter(message, ++step), this.signedBy());
      bob = session ?? bob;
      messages.push(reply);
      return alter(reply, ++step);
    });
    if (bob === undefined) throw new Error("the responder has no session");
    return { ann, bob, messages };
  }
}

export function agent(digit: string): Identity {
  return createIdentity({ name: "agent", did: `did:sage:local:0x${digit.repeat(40)}`, now: () => START });
}

export function signingKey(identity: Identity): PublicKey {
  const key = identity.keys().find(({ kind }) => kind === "Ed25519");
  if (key === undefined) throw new Error("no key that signs");
  return key;
}

/** RFC 8410 §7, before the 32 bytes of an Ed25519 key. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** An identity with given keys, for vectors. The names are those of its keys. */
export function fixedIdentity(
  did: string,
  signing: { readonly name: string; readonly secret: Uint8Array },
  kem: { readonly name: string; readonly secret: Uint8Array },
): Identity {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, signing.secret]), format: "der", type: "pkcs8" });
  const x = createPublicKey(privateKey).export({ format: "jwk" }).x ?? "";
  const agreement = ephemeralKey(kem.secret);
  const keys: readonly PublicKey[] = [
    { id: `${did}#${signing.name}`, kind: "Ed25519", bytes: Buffer.from(x, "base64url"), uses: ["authentication"] },
    { id: `${did}#${kem.name}`, kind: "X25519", bytes: agreement.publicBytes, uses: ["agreement"] },
  ];
  return {
    name: "fixed",
    did,
    keys: () => keys,
    sign: (_, bytes) => sign(null, bytes, privateKey),
    agree: (_, peer) => agreement.agree(peer),
  };
}
