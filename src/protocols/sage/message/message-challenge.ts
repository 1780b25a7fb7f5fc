import { AgentError, type Maybe, type Proof } from "../../../envelope/index.js";
import { Challenges } from "../../../security/replay/index.js";
import { readSigned, writeSigned } from "../codec.js";
import { MESSAGE_CHALLENGE } from "../errors.js";
import { signingKeyOf } from "../identity/signing-key.js";
import { CHALLENGE, TIMES } from "../wire.js";
import { type Author, type Challenger, checkSigned, hashOf, type Verification } from "./message-proof.js";
import { readProof, writeProof } from "./task-request.js";

/**
 * A server that has just started does not know what it accepted before. It asks the author of a message that a gateway brings to sign again,
 * with a nonce of this process: what is signed with it is younger than the process. The challenge is signed for that message, so that a
 * gateway cannot make an author sign again what the agent has accepted.
 */
export class MessageChallenges implements Challenger {
  readonly #author: Author;
  readonly #challenges: Challenges;

  constructor(author: Author) {
    this.#author = author;
    this.#challenges = new Challenges({ now: () => author.now(), lifetimeMs: TIMES.lifetimeMs });
  }

  isAsked(nonce: string): boolean {
    return this.#challenges.issuedAt(nonce) !== undefined;
  }

  async refusal(request: Proof): Promise<AgentError> {
    const { identity, now, newId } = this.#author;
    const { id: kid } = signingKeyOf(identity);
    const created = Math.floor(now() / 1_000);
    const signed = writeSigned({
      ...{ id: newId(), did: identity.did, kid, recipient: request.signer, created, role: "agent", intent: CHALLENGE, parts: [] },
      expires: created + TIMES.lifetimeMs / 1_000,
      nonce: this.#challenges.nonce(),
      requestHash: hashOf(request),
    });
    const challenge = writeProof({ signed, signature: await identity.sign(kid, signed) });
    const problem = "this server has just started: the author has to sign again, with the nonce of the challenge";
    return new AgentError("unauthenticated", problem, { detail: { ...MESSAGE_CHALLENGE, challenge } });
  }
}

/** The nonce with which the author has to sign this request again. Undefined: nobody asks for it, or not the agent itself. */
export async function askedNonce(
  { facts: { detail } }: AgentError,
  request: Proof,
  agentDid: string,
  verification: Omit<Verification, "request" | "replay">,
): Promise<Maybe<string>> {
  const challenge = detail?.["reason"] === MESSAGE_CHALLENGE.reason ? detail["challenge"] : undefined;
  if (challenge === undefined) return undefined;
  try {
    const proof = readProof(challenge);
    const signed = readSigned(proof.signed);
    if (proof.signer !== agentDid || signed.intent !== CHALLENGE) return undefined;
    await checkSigned(signed, proof, signed, { ...verification, request });
    return signed.nonce;
  } catch {
    // Somebody on the way made it up: the refusal stays one.
    return undefined;
  }
}
