import { AgentError, type AuthoredRequest, type Call, type Maybe, type Proof } from "../../envelope/index.js";
import { namedByPeer } from "./errors.js";
import type { SageSession } from "./session/session.js";
import { challengeIn, nonceOfEndedSession } from "./signatures/challenge.js";

/** What the calls under way know: the session that they use, and the nonce that the peer asked for. */
export class CallStates {
  readonly #nonces = new WeakMap<Call, string>();
  readonly #sessions = new WeakMap<Call, SageSession>();
  readonly #authors = new WeakMap<Call, AuthoredRequest>();
  readonly #renewed = new WeakSet<Call>();
  /** What this side signed as its author, and the nonce that the agent then asked for. */
  readonly #requests = new WeakMap<Call, Proof>();
  readonly #asked = new WeakMap<Call, string>();
  /** What the peer said with the end of a session: for the first request of the next handshake, which may be challenged all the same. */
  readonly #offered = new WeakMap<Call, string>();
  #nextOffered: Maybe<string>;

  /** A call that makes a session. */
  begun(call: Call): Call {
    if (this.#nextOffered !== undefined) this.#offered.set(call, this.#nextOffered);
    this.#nextOffered = undefined;
    return call;
  }

  signed(call: Call, request: Proof): void {
    this.#requests.set(call, request);
  }

  requestOf(call: Call): Maybe<Proof> {
    return this.#requests.get(call);
  }

  askedOf(call: Call): Maybe<string> {
    return this.#asked.get(call);
  }

  /** Once for each call. */
  signAgain(call: Call, nonce: string): boolean {
    if (this.#asked.has(call)) return false;
    this.#asked.set(call, nonce);
    this.#nonces.delete(call); // it was used
    return true;
  }

  nonceOf(call: Maybe<Call>): Maybe<string> {
    return call && (this.#nonces.get(call) ?? this.#offered.get(call));
  }

  authorOf(call: Maybe<Call>): Maybe<AuthoredRequest> {
    return call && this.#authors.get(call);
  }

  authored(call: Call, request: AuthoredRequest): void {
    this.#authors.set(call, request);
  }

  sessionOf(call: Maybe<Call>): Maybe<SageSession> {
    return call && this.#sessions.get(call);
  }

  use(call: Call, session: SageSession): void {
    this.#sessions.set(call, session);
  }

  /** Throws what repeating cannot mend. Nothing is repeated twice for the same reason. */
  mayRepeat(call: Call, thrown: unknown): void {
    const error = namedByPeer(thrown);
    const nonce = challengeIn(AgentError.from(thrown));
    const session = this.#sessions.get(call);
    this.#sessions.delete(call);
    if (nonce !== undefined && !this.#nonces.has(call)) {
      this.#nonces.set(call, nonce);
      return;
    }
    if (error.name !== "ErrSessionExpired" || session === undefined || this.#renewed.has(call)) throw error;
    this.#renewed.add(call);
    this.#nextOffered = nonceOfEndedSession(error);
    this.#nonces.delete(call);
    session.close();
  }
}
