import type { Call, Maybe } from "../../../envelope/index.js";
import { randomHex } from "../../../security/hashes.js";
import { MessageSigner } from "../../../security/signatures/index.js";
import { addCallHeaders } from "../../../transport/call-headers.js";
import {
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  isStream,
  type RequestSigner,
} from "../../../transport/exchange.js";
import { isLoopbackHost } from "../../../transport/loopback.js";
import { makeRequest } from "../../../transport/request.js";
import type { DiscoveryContext } from "../../protocol.js";
import { isFinal, readChallenge } from "../authentication/challenge.js";
import { writeDidHeader } from "../authentication/did-header.js";
import { SIGNATURES } from "../authentication/signatures.js";
import { messageKeyOf } from "../identity/own-identity.js";
import type { Authentication } from "../settings.js";

/** A request to a peer. */
export interface Question {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body?: Maybe<string>;
  readonly accept?: Maybe<string>;
}

interface Token {
  readonly text: string;
  readonly endsMs: number;
}

const TOKEN = /(?:^|[\s,])access_token="([\x21\x23-\x7e]{1,4096})"/;
const SECONDS = /(?:^|[\s,])expires_in="?(\d{1,9})/;
const NONCE_BYTES = 16;
const DEFAULT_TOKEN_MS = 600_000;

/** What requests are signed and sent with. */
export type SigningContext = Pick<DiscoveryContext, "link" | "identity" | "now">;

/**
 * Sends requests with a proof of the own DID: without an identity they carry none. A challenge that signing again can answer is
 * answered once, and a token that is refused is dropped and replaced by a signature.
 */
export class SignedRequests {
  readonly #context: SigningContext;
  readonly #authentication: Authentication;
  #token: Maybe<Token>;

  constructor(context: SigningContext, authentication: Authentication) {
    this.#context = context;
    this.#authentication = authentication;
  }

  async send(question: Question, call: Call): Promise<HttpResponse> {
    const { identity } = this.#context;
    if (identity === undefined) return this.#exchange(question, call, undefined, undefined);
    const token = this.#validToken();
    const response = await this.#exchange(question, call, token, undefined);
    if (response.status !== 401) return this.#keepToken(question, response);
    const challenge = readChallenge(response.headers["www-authenticate"]);
    const isAgain = token !== undefined || challenge?.nonce !== undefined;
    this.#token = undefined;
    if (!isAgain || isFinal(challenge?.code)) return response;
    if (isStream(response.body)) void response.body[Symbol.asyncIterator]().return?.();
    return this.#keepToken(question, await this.#exchange(question, call, undefined, challenge?.nonce));
  }

  #exchange(question: Question, call: Call, token: Maybe<Token>, nonce: Maybe<string>): HttpResponse | Promise<HttpResponse> {
    const { method, url, body, accept = "application/json" } = question;
    const headers: Record<string, Maybe<string>> = { accept };
    addCallHeaders(headers, call);
    if (body !== undefined) headers["content-type"] = "application/json";
    if (token !== undefined) headers["authorization"] = `Bearer ${token.text}`;
    const signer = token === undefined ? this.#signer(nonce) : undefined;
    return this.#context.link.exchange(makeRequest({ method, url, headers, body, call, signer }));
  }

  /** Signs the final request, anew each time: the key is read then, because keys rotate. */
  #signer(challenge: Maybe<string>): Maybe<RequestSigner> {
    const { identity } = this.#context;
    if (identity === undefined) return undefined;
    const now = (): number => this.#context.now();
    const nonce = challenge === undefined ? undefined : () => challenge;
    if (this.#authentication === "signature" || this.#authentication === "token")
      return {
        sign: (request) =>
          new MessageSigner({ profile: SIGNATURES, key: messageKeyOf(identity), now, nonce }).request(request, request.body),
      };
    const version = this.#authentication === "header" ? "1.1" : "1.0";
    return {
      async sign(request: HttpRequest): Promise<HttpHeaders> {
        const domain = new URL(request.target).hostname;
        const fresh = challenge ?? randomHex(NONCE_BYTES);
        return { authorization: await writeDidHeader(identity, { domain, version, nonce: fresh, nowMs: now() }) };
      },
    };
  }

  #validToken(): Maybe<Token> {
    return this.#token !== undefined && this.#context.now() < this.#token.endsMs ? this.#token : undefined;
  }

  /** A token that somebody could have read on the way is not used. */
  #keepToken({ url }: Question, response: HttpResponse): HttpResponse {
    const info = response.headers["authentication-info"];
    if (this.#authentication !== "token" || info === undefined) return response;
    const { protocol, hostname } = new URL(url);
    const text = TOKEN.exec(info)?.[1];
    if (text === undefined || (protocol !== "https:" && !isLoopbackHost(hostname))) return response;
    const seconds = SECONDS.exec(info)?.[1];
    const lifeMs = seconds === undefined ? DEFAULT_TOKEN_MS : Number(seconds) * 1_000;
    this.#token = { text, endsMs: this.#context.now() + lifeMs };
    return response;
  }
}
