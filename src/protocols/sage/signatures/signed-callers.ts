import { AgentError, type Floor, floorOf, type Maybe, type Principal } from "../../../envelope/index.js";
import { didOfUrl, type Identity } from "../../../security/identity/index.js";
import { Challenges } from "../../../security/replay/index.js";
import { SignatureError, type SignatureProfile, SignatureVerifier } from "../../../security/signatures/index.js";
import type { HttpRequest, RequestHead } from "../../../transport/exchange.js";
import type { Host } from "../../protocol.js";
import { SageError } from "../errors.js";
import { signerKey } from "../identity/signing-key.js";
import { acceptedSessions } from "../session/accepted-sessions.js";
import type { SageSession } from "../session/index.js";
import { checkPeerKeys } from "../session/keys-of.js";
import { SessionError } from "../session/session-error.js";
import { DID_HEADER, SESSION_HEADER, TIMES } from "../wire.js";
import { challenge, endedSession } from "./challenge.js";

/** Who signed a request. */
export interface SignedCaller {
  readonly caller: Principal;
  readonly did: string;
  readonly proved: Partial<Floor>;
  /** The session that the request names: answers are sealed in it. */
  readonly session: Maybe<SageSession>;
  /** The request is signed with the key of the session, and so are answers. */
  readonly bySession: boolean;
}

interface UsedNonce {
  readonly did: string;
  readonly nonce: string;
  readonly fromMs: number;
  readonly untilMs: number;
}

const SIGNED: Floor = floorOf(["signed", "identity"]);

/** Decides who sent a request of SAGE. There is no other way to be a caller: a request without a valid signature is refused. */
export class SignedCallers {
  readonly #host: Host;
  readonly #verifier: SignatureVerifier;
  readonly #challenges: Challenges;
  readonly #identity: Maybe<Identity>;

  constructor(host: Host, identity: Maybe<Identity>, profile: SignatureProfile) {
    this.#host = host;
    this.#verifier = new SignatureVerifier(profile);
    this.#identity = identity;
    this.#challenges = new Challenges({ now: () => host.now(), lifetimeMs: TIMES.lifetimeMs });
  }

  /** Throws the refusal. Order: syntax, coverage, time, binding, record, signature, digest, replay. */
  async callerOf(request: HttpRequest): Promise<SignedCaller> {
    const did = request.headers[DID_HEADER] ?? "";
    const known = request.admitted === undefined ? undefined : await this.#host.admit(request);
    // The host has checked the signature by this profile, and used up its nonce.
    if (known?.scheme === "did") {
      const caller = this.#boundTo(known, did);
      return { caller, did, proved: SIGNED, session: await this.#sessionOf(request, did), bySession: false };
    }
    const session = await this.#sessionOf(request, did);
    const keyId = await this.#verified(request, did, session);
    const bySession = session !== undefined && keyId === session.keyId;
    const named = known !== undefined && known.scheme !== "anonymous";
    const caller = named ? known : await this.#host.identify(request, { did, keyId });
    return { caller, did, proved: SIGNED, session, bySession };
  }

  #boundTo(known: Principal, did: string): Principal {
    if (known.id === did) return known;
    throw new SageError("sig.binding", `${known.id.slice(0, 200)} signed, and ${DID_HEADER} names ${did.slice(0, 200)}`);
  }

  /** Throws ErrSessionExpired for a session that is not known here, or has ended. */
  async #sessionOf({ headers, cancel, connection }: HttpRequest, did: string): Promise<Maybe<SageSession>> {
    const kid = headers[SESSION_HEADER];
    if (kid === undefined || this.#identity === undefined) return undefined;
    try {
      const session = acceptedSessions(this.#identity).table.find({ ownDid: this.#identity.did, peerDid: did }, kid);
      const { resolver } = this.#host;
      await checkPeerKeys(session, resolver.forCaller?.(connection.remote) ?? resolver, cancel);
      return session;
    } catch (thrown) {
      // Usually this process has just started, and would ask for a nonce of its own next.
      throw thrown instanceof SessionError ? endedSession(thrown, this.#challenges.nonce()) : thrown;
    }
  }

  async #verified(request: HttpRequest, did: string, session: Maybe<SageSession>): Promise<string> {
    const { method, headers, rawHeaders, body, cancel, connection } = request;
    const host = this.#host;
    const verified = await this.#verifier.verify({
      message: { request: { method, target: targetOf(host, request), headers, rawHeaders } },
      kind: "request",
      hasBody: true,
      nowMs: host.now(),
      keys(keyId) {
        if (session !== undefined && keyId === session.keyId) return session.verificationKey();
        if (didOfUrl(keyId) !== did)
          throw new SageError("sig.binding", `the key ${keyId.slice(0, 200)} is not one of ${did.slice(0, 200)}`);
        // Anyone can name DIDs: resolutions count against the address that they come from.
        const resolver = host.resolver.forCaller?.(connection.remote) ?? host.resolver;
        return signerKey(keyId, { resolver, now: () => host.now(), cancel });
      },
    });
    this.#verifier.checkBody(verified, body);
    const { keyId, nonce, untilMs } = verified;
    let { fromMs } = verified;
    if (keyId === session?.keyId) {
      session.confirm();
      // Sessions are of this process alone: what one signed is younger than the process, and needs no challenge after a start.
      fromMs = Math.max(fromMs, session.createdAt);
    }
    if (nonce === undefined) throw new SignatureError("missing_parameter", "the signature has no parameter nonce");
    await this.#useNonce({ did, nonce, untilMs, fromMs });
    return keyId;
  }

  /** Each nonce is accepted once, of each DID. */
  async #useNonce({ did, nonce, untilMs, fromMs }: UsedNonce): Promise<void> {
    const issuedMs = this.#challenges.issuedAt(nonce);
    let isNew: boolean;
    try {
      isNew = await this.#host.replay.add(did, nonce, untilMs, Math.max(fromMs, issuedMs ?? 0));
    } catch (thrown) {
      const error = AgentError.from(thrown);
      if (error.code !== "unavailable" || issuedMs !== undefined) throw error;
      // Right after a start nobody knows what was accepted before it. What echoes a challenge of this process is younger.
      throw challenge(this.#challenges.nonce());
    }
    if (!isNew) throw new SignatureError("replayed", "this signature was used before");
  }
}

/** The URL of a request as its caller wrote it. */
export function targetOf(host: Pick<Host, "publicUrl">, request: RequestHead): string {
  const { path, query } = request;
  return `${host.publicUrl(request)}${path}${query === "" ? "" : `?${query}`}`;
}

/** For servers without an identity of SAGE, and for forms in which nothing can be protected. */
export function notServed(why: string): AgentError {
  return new SageError("policy_denied", `the request is one of SAGE, and ${why}`);
}
