import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { AgentError, type AgentEvent, type Call, isObject, type JsonObject, type Maybe } from "../../src/envelope/index.js";
import type { ClientContext, Host } from "../../src/protocols/index.js";
import { didOfUrl, type Identity } from "../../src/security/identity/index.js";
import { MessageSigner, responseSigning, SignatureError, SignatureVerifier } from "../../src/security/signatures/index.js";
import { wholeBody } from "../../src/transport/body.js";
import type { HttpRequest, HttpResponse, RequestSigner } from "../../src/transport/exchange.js";
import { blame, DecodeProblem, readObject } from "../../src/transport/fields.js";
import { readJson } from "../../src/transport/json.js";
import { httpAddress, makeRequest } from "../../src/transport/request.js";
import { decodeEvent } from "../session-toy/codec.js";
import { decodeError } from "../session-toy/errors.js";
import { keyNamed, messageKeyOf, verificationKeyOf } from "./identity.js";
import { CHALLENGE, LIFETIME_MS, PATH, SIGNATURES } from "./wire.js";

const verifier = new SignatureVerifier(SIGNATURES);

/** A signer of an identity as it is now: rotation replaces its key. */
function signerOf(identity: Identity, now: () => number): MessageSigner {
  return new MessageSigner({ profile: SIGNATURES, key: messageKeyOf(identity), now });
}

/** Operations with one answer, as signed requests. A request that gets a challenge is sent once more, with the challenge. */
export class SignedCalls {
  readonly #context: ClientContext;
  readonly #identity: Identity;
  readonly #server: string;
  #challenge: Maybe<string>;

  constructor(context: ClientContext, identity: Identity, server: string) {
    this.#context = context;
    this.#identity = identity;
    this.#server = server;
  }

  async ask(message: JsonObject, call: Call): Promise<AgentEvent> {
    let response = await this.#send(message, call);
    const challenge = response.headers[CHALLENGE];
    if (challenge !== undefined) this.#challenge = challenge;
    if (response.status === 401 && challenge !== undefined) response = await this.#send(message, call);
    try {
      const wire = readObject(readJson(response.body as Uint8Array, this.#context.limits), "answer"); // collected by `verify`
      if (isObject(wire["error"])) {
        const { code, message: text } = wire["error"];
        throw decodeError({ code: String(code), message: String(text), field: undefined, retryMs: undefined });
      }
      return decodeEvent(readObject(wire["event"], "event"), this.#context.limits);
    } catch (thrown) {
      throw thrown instanceof DecodeProblem ? blame(thrown, "bad_peer") : thrown;
    }
  }

  async #send(message: JsonObject, call: Call): Promise<HttpResponse> {
    const { origin } = new URL(httpAddress(this.#context.peer.url));
    const headers = { "content-type": "application/json", ...(this.#challenge && { [CHALLENGE]: this.#challenge }) };
    const body = new TextEncoder().encode(JSON.stringify(message));
    const request = makeRequest({ method: "POST", url: `${origin}${PATH}`, headers, body, call, signer: this.#signer(call) });
    return this.#context.link.exchange(request);
  }

  #signer(call: Call): RequestSigner {
    const { limits, resolver } = this.#context;
    const now = (): number => this.#context.now();
    return {
      sign: (request) => signerOf(this.#identity, now).request(request, request.body),
      verify: async (response, request) => {
        const body = await wholeBody(response.body, limits.bodyBytes);
        try {
          const verified = await verifier.verify({
            message: { request, response: { status: response.status, headers: response.headers } },
            kind: "response",
            hasBody: body.length > 0,
            nowMs: now(),
            keys: async (keyId) => {
              if (didOfUrl(keyId) !== this.#server) return undefined;
              return verificationKeyOf(await keyNamed(resolver, keyId, { now, cancel: call.cancel }));
            },
          });
          verifier.checkBody(verified, body);
        } catch (thrown) {
          if (!(thrown instanceof SignatureError)) throw thrown;
          throw new AgentError("bad_signature", `the answer is not signed by ${this.#server}: ${thrown.message}`, {
            sent: "maybe",
          });
        }
        return { status: response.status, headers: response.headers, body };
      },
    };
  }
}

/** The server's half: who signed a request, and signatures of answers. */
export class SignedRequests {
  readonly #host: Host;
  readonly #identity: Identity;
  readonly #secret = randomBytes(32);

  constructor(host: Host, identity: Identity) {
    this.#host = host;
    this.#identity = identity;
  }

  /** The DID that signed the request for this server, in answer to a challenge. Throws `unauthenticated`. */
  async signerOf(request: HttpRequest): Promise<{ readonly did: string; readonly keyId: string }> {
    const host = this.#host;
    const now = (): number => host.now();
    const { method, headers, rawHeaders, cancel } = request;
    try {
      const verified = await verifier.verify({
        message: { request: { method, target: this.#target(request), headers, rawHeaders } },
        kind: "request",
        hasBody: true,
        nowMs: now(),
        keys: async (keyId) => verificationKeyOf(await keyNamed(host.resolver, keyId, { now, cancel })),
      });
      verifier.checkBody(verified, request.body);
      const { keyId, nonce, untilMs, fromMs } = verified;
      const issuedMs = this.#issued(headers[CHALLENGE]);
      if (issuedMs === undefined) throw this.#challenge();
      const did = didOfUrl(keyId);
      // What covers a challenge of this process was made after it: earlier processes cannot have accepted it.
      if (nonce === undefined || !(await host.replay.add(did, nonce, untilMs, Math.max(fromMs, issuedMs))))
        throw new SignatureError("replayed", "this signature was used before");
      return { did, keyId };
    } catch (thrown) {
      if (!(thrown instanceof SignatureError)) throw thrown;
      throw new AgentError("unauthenticated", thrown.message, { detail: { signature: thrown.problem } });
    }
  }

  signed(response: HttpResponse): HttpResponse {
    const signer = signerOf(this.#identity, () => this.#host.now());
    return { ...response, sign: responseSigning(signer, (head) => this.#target(head)) };
  }

  #target(head: Pick<HttpRequest, "path"> & Parameters<Host["publicUrl"]>[0]): string {
    return `${this.#host.publicUrl(head)}${head.path}`;
  }

  #challenge(): AgentError {
    const at = String(this.#host.now());
    const head = { [CHALLENGE]: `${at}.${this.#mac(at).toString("base64url")}` };
    return new AgentError("unauthenticated", "sign the request with this challenge", { head });
  }

  /** When this process issued the challenge; undefined if it did not, or too long ago. */
  #issued(challenge: Maybe<string>): Maybe<number> {
    const [at = "", mac = ""] = challenge?.split(".") ?? [];
    const [given, own] = [Buffer.from(mac, "base64url"), this.#mac(at)];
    if (given.length !== own.length || !timingSafeEqual(given, own)) return undefined;
    return this.#host.now() < Number(at) + LIFETIME_MS ? Number(at) : undefined;
  }

  #mac(at: string): Buffer {
    return createHmac("sha256", this.#secret).update(at).digest();
  }
}
