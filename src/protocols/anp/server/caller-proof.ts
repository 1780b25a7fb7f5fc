import { AgentError, type Floor, floorOf, type Maybe, type Principal } from "../../../envelope/index.js";
import type { ProvenPeer } from "../../../security/admission.js";
import { authenticationKey, didOfUrl, keyObjectOf, type PeerKeySource } from "../../../security/identity/index.js";
import { Challenges } from "../../../security/replay/index.js";
import {
  SignatureError,
  type SignatureProblem,
  SignatureVerifier,
  type VerifiedSignature,
} from "../../../security/signatures/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import type { Host } from "../../protocol.js";
import { type ChallengeCode, challengeHead, refusal } from "../authentication/challenge.js";
import { isDidHeader, isSignedFor, readDidHeader } from "../authentication/did-header.js";
import { SIGNATURES } from "../authentication/signatures.js";
import { AccessTokens, bearerIn, isAccessToken, tokenHead } from "../authentication/tokens.js";
import { algorithmOf } from "../identity/own-identity.js";
import { TIMES } from "../wire.js";

/** Who sent a request, and what it proved. */
export interface ProvenCaller {
  readonly caller: Principal;
  readonly proved: Maybe<Partial<Floor>>;
  /** Header fields of the answer: the access token. */
  readonly head: { readonly [name: string]: string };
}

interface Proven {
  readonly peer: ProvenPeer;
  /** The request itself is signed, not only the connection opened by a token. */
  readonly signed: boolean;
  readonly isNew: boolean;
}

const SIGNED: Floor = floorOf(["signed", "identity"]);
const NAMED: Floor = floorOf(["identity"]);
const NOTHING: { readonly [name: string]: string } = Object.freeze({});

const verifier = new SignatureVerifier(SIGNATURES);

/** Decides who sent a request: by its signature, its `DIDWba` header or an access token; without a proof the host decides. */
export class CallerProofs {
  readonly #host: Host;
  readonly #challenges: Challenges;
  readonly #tokens: AccessTokens;

  constructor(host: Host) {
    this.#host = host;
    const now = (): number => host.now();
    this.#challenges = new Challenges({ now, lifetimeMs: TIMES.lifetimeMs });
    this.#tokens = new AccessTokens(now);
  }

  /** Throws the refusal, with a challenge. */
  async callerOf(request: HttpRequest): Promise<ProvenCaller> {
    const known = request.admitted === undefined ? undefined : await this.#host.admit(request);
    // The host has checked the signature itself.
    if (known?.scheme === "did" || known?.scheme === "signature") return { caller: known, proved: SIGNED, head: NOTHING };
    const proven = await this.#provenBy(request);
    if (proven === undefined) return { caller: known ?? (await this.#host.admit(request)), proved: undefined, head: NOTHING };
    const caller = known !== undefined && known.scheme !== "anonymous" ? known : await this.#identified(request, proven.peer);
    const mayHand = proven.isNew && (request.connection.secure || request.connection.loopback);
    return {
      caller,
      proved: proven.signed ? SIGNED : NAMED,
      head: mayHand ? tokenHead(this.#tokens.issue(proven.peer)) : NOTHING,
    };
  }

  /** What is wrong with a request that another part of the server refuses: the challenge says how to sign. */
  challenged(request: HttpRequest, error: AgentError): AgentError {
    if (error.code !== "unauthenticated" || error.facts.head?.["www-authenticate"]?.startsWith("DIDWba") === true) return error;
    const own = challengeHead(this.#realm(request));
    const other = error.facts.head?.["www-authenticate"];
    const both = other === undefined ? own : { ...own, "www-authenticate": `${other}, ${own["www-authenticate"]}` };
    return new AgentError(error.code, error.message, { ...error.facts, head: { ...error.facts.head, ...both } });
  }

  async #identified(request: HttpRequest, peer: ProvenPeer): Promise<Principal> {
    try {
      return await this.#host.identify(request, peer);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      if (error.code !== "forbidden") throw error;
      const problem = { code: "forbidden_did" as const, description: error.message };
      throw new AgentError("forbidden", error.message, {
        detail: { reason: problem.code },
        head: challengeHead(this.#realm(request), problem),
      });
    }
  }

  async #provenBy(request: HttpRequest): Promise<Maybe<Proven>> {
    const { authorization, "signature-input": signed } = request.headers;
    if (signed !== undefined || request.headers["signature"] !== undefined)
      return { peer: await this.#signerOf(request), signed: true, isNew: true };
    if (isDidHeader(authorization)) return { peer: await this.#headerOf(request, authorization), signed: false, isNew: true };
    const token = bearerIn(authorization);
    const holder = token === undefined ? undefined : this.#tokens.holderOf(token);
    if (holder !== undefined) return { peer: await this.#stillKnown(request, holder), signed: false, isNew: false };
    // A token of another process, or of before a restart: the client drops it and signs. Other tokens are the host's to judge.
    if (token !== undefined && isAccessToken(token)) throw this.#tokenRefused(request, "the access token is not valid here");
    return undefined;
  }

  /** A token lives longer than a key that was revoked. The document is in the resolver's cache. */
  async #stillKnown(request: HttpRequest, holder: ProvenPeer): Promise<ProvenPeer> {
    const key = await this.#keyOf(holder.keyId, request).catch((thrown: unknown) => {
      throw this.#refused(request, thrown);
    });
    if (key === undefined) throw this.#tokenRefused(request, "the key that the access token was issued for is no longer valid");
    return holder;
  }

  #tokenRefused(request: HttpRequest, description: string): AgentError {
    return refusal(this.#realm(request), { code: "invalid_access_token", description });
  }

  async #signerOf(request: HttpRequest): Promise<ProvenPeer> {
    const { method, headers, rawHeaders, body } = request;
    try {
      const verified = await verifier.verify({
        message: { request: { method, target: this.#target(request), headers, rawHeaders } },
        kind: "request",
        hasBody: body.length > 0,
        nowMs: this.#host.now(),
        keys: async (keyId) => {
          const key = await this.#keyOf(keyId, request);
          const algorithm = key && algorithmOf(key.kind);
          return key === undefined || algorithm === undefined ? undefined : { algorithm, key: keyObjectOf(key) };
        },
      });
      verifier.checkBody(verified, body);
      return await this.#onceOnly(request, verified);
    } catch (thrown) {
      throw this.#refused(request, thrown);
    }
  }

  async #onceOnly(request: HttpRequest, { keyId, nonce = "", fromMs, untilMs }: VerifiedSignature): Promise<ProvenPeer> {
    const did = didOfUrl(keyId);
    await this.#useNonce(request, { did, nonce, fromMs, untilMs });
    return { did, keyId };
  }

  /** Each nonce is accepted once, of each DID. */
  async #useNonce(
    request: HttpRequest,
    {
      did,
      nonce,
      fromMs,
      untilMs,
    }: { readonly did: string; readonly nonce: string; readonly fromMs: number; readonly untilMs: number },
  ): Promise<void> {
    const issuedMs = this.#challenges.issuedAt(nonce);
    let isNew: boolean;
    try {
      isNew = await this.#host.replay.add(did, nonce, untilMs, issuedMs === undefined ? fromMs : Math.max(fromMs, issuedMs));
    } catch (thrown) {
      const error = AgentError.from(thrown);
      if (error.code !== "unavailable" || issuedMs !== undefined) throw error;
      // Right after a start nobody knows what was accepted before it. What echoes a challenge of this process is younger.
      const description = "the server has just started: sign again with this nonce";
      throw refusal(this.#realm(request), { code: "invalid_nonce", description, nonce: this.#challenges.nonce() });
    }
    if (!isNew) throw new SignatureError("replayed", "this nonce was used before");
  }

  async #headerOf(request: HttpRequest, authorization: string): Promise<ProvenPeer> {
    const realm = this.#realm(request);
    const header = readDidHeader(authorization);
    if (header === undefined) throw refusal(realm, { code: "invalid_request", description: "the DIDWba header is not complete" });
    const now = this.#host.now();
    const [fromMs, untilMs] = [header.atMs - TIMES.skewMs, header.atMs + TIMES.lifetimeMs + TIMES.skewMs];
    if (fromMs > now || untilMs <= now)
      throw refusal(realm, { code: "invalid_timestamp", description: "the timestamp of the DIDWba header is not of now" });
    try {
      const key = await this.#keyOf(header.keyId, request);
      if (key === undefined) throw new SignatureError("unknown_key", "the key of the DIDWba header is not one of its DID");
      if (!isSignedFor(header, key, realm)) throw new SignatureError("wrong", "the signature of the DIDWba header is wrong");
      await this.#useNonce(request, { did: header.did, nonce: header.nonce, fromMs, untilMs });
      return { did: header.did, keyId: header.keyId };
    } catch (thrown) {
      throw this.#refused(request, thrown);
    }
  }

  /** Anyone can name DIDs: resolutions count against the address that they come from. */
  #keyOf(keyId: string, { connection, cancel }: HttpRequest): ReturnType<typeof authenticationKey> {
    const { resolver } = this.#host;
    const source: PeerKeySource = {
      resolver: resolver.forCaller?.(connection.remote) ?? resolver,
      now: () => this.#host.now(),
      cancel,
    };
    if (!didOfUrl(keyId).startsWith("did:")) return Promise.resolve(undefined);
    return authenticationKey(keyId, source);
  }

  #refused(request: HttpRequest, thrown: unknown): AgentError {
    const error = AgentError.from(thrown);
    if (error.facts.head?.["www-authenticate"] !== undefined) return error;
    const code: Maybe<ChallengeCode> =
      thrown instanceof SignatureError ? CODES[thrown.problem] : error.code === "identity_unresolved" ? "invalid_did" : undefined;
    return code === undefined ? error : refusal(this.#realm(request), { code, description: error.message }, error);
  }

  #target(request: HttpRequest): string {
    const { path, query } = request;
    return `${this.#host.publicUrl(request)}${path}${query === "" ? "" : `?${query}`}`;
  }

  /** The domain that a header is signed for: without its port. */
  #realm(request: HttpRequest): string {
    return new URL(this.#host.publicUrl(request)).hostname;
  }
}

const CODES: { readonly [problem in SignatureProblem]: ChallengeCode } = {
  missing: "invalid_request",
  malformed: "invalid_request",
  too_large: "invalid_request",
  ambiguous: "invalid_request",
  duplicate_label: "invalid_request",
  duplicate_component: "invalid_request",
  unknown_component: "invalid_request",
  absent_component: "invalid_request",
  coverage: "invalid_signature",
  missing_parameter: "invalid_request",
  bad_time: "invalid_timestamp",
  expired: "invalid_timestamp",
  not_yet_valid: "invalid_timestamp",
  algorithm: "invalid_signature",
  unknown_key: "invalid_verification_method",
  wrong: "invalid_signature",
  digest_missing: "invalid_content_digest",
  digest_mismatch: "invalid_content_digest",
  replayed: "invalid_nonce",
};
