import type { Awaitable, Maybe } from "../../envelope/index.js";
import type { HttpHeaders, HttpResponse, RequestHead } from "../../transport/exchange.js";
import { isStream } from "../../transport/exchange.js";
import type { SignatureAlgorithm } from "./algorithms.js";
import type { Component, SignedMessage, SignedRequest } from "./components.js";
import { contentDigest } from "./content-digest.js";
import { CoverageRules, DIGEST } from "./coverage.js";
import { noncePool } from "./nonce-pool.js";
import type { SignatureParameter, SignatureProfile } from "./profile.js";
import { stringText } from "./structured-fields.js";

/** A key that signs. The private half may be in a device or a service. */
export interface MessageSigningKey {
  /** Written as `keyid`. */
  readonly keyId: string;
  readonly algorithm: SignatureAlgorithm;
  sign(base: Uint8Array): Awaitable<Uint8Array>;
}

export interface SigningParts {
  readonly profile: SignatureProfile;
  readonly key: MessageSigningKey;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Default: random. */
  readonly nonce?: Maybe<() => string>;
}

const EMPTY = new Uint8Array(0);

/** Writes the signatures of one profile with one key. */
export class MessageSigner {
  readonly #profile: SignatureProfile;
  readonly #key: MessageSigningKey;
  readonly #now: () => number;
  readonly #nonce: () => string;
  readonly #request: CoverageRules;
  readonly #response: Maybe<CoverageRules>;
  readonly #stream: Maybe<CoverageRules>;
  readonly #parameterNames: readonly SignatureParameter[];
  /** The parameters that are the same in every signature. */
  readonly #fixed: Partial<Record<SignatureParameter, string>>;
  /** The parameters of the signatures of one second: only the nonce differs. */
  #second: Maybe<number>;
  #beforeNonce = "";
  #afterNonce: Maybe<string>;

  constructor({ profile, key, now, nonce }: SigningParts) {
    this.#profile = profile;
    this.#key = key;
    this.#now = now;
    this.#nonce = nonce ?? noncePool(profile.nonce);
    this.#request = new CoverageRules(profile.request);
    this.#response = profile.response && new CoverageRules(profile.response);
    this.#stream = profile.stream && new CoverageRules(profile.stream);
    const unlistedTag = profile.tag !== undefined && !profile.parameters.includes("tag");
    this.#parameterNames = unlistedTag ? [...profile.parameters, "tag"] : profile.parameters;
    this.#fixed = {
      alg: stringText(key.algorithm),
      keyid: stringText(key.keyId),
      ...(profile.tag === undefined ? {} : { tag: stringText(profile.tag) }),
    };
  }

  /** The fields that sign a request. */
  request(request: SignedRequest, body: Uint8Array): Awaitable<HttpHeaders> {
    return this.#sign(this.#request, { request }, this.#digestOf(body));
  }

  /** The fields that sign a response. Undefined for a stream, if the profile does not sign streams. */
  response(response: HttpResponse, request: SignedRequest): Awaitable<Maybe<HttpHeaders>> {
    const { status, headers, body } = response;
    if (isStream(body)) return this.#stream && this.#sign(this.#stream, { request, response: { status, headers } }, undefined);
    if (this.#response === undefined) return undefined;
    return this.#sign(this.#response, { request, response: { status, headers } }, this.#digestOf(body ?? EMPTY));
  }

  #digestOf(body: Uint8Array | string): Maybe<string> {
    const { digest, digestOfEmptyBody } = this.#profile;
    return body.length === 0 && digestOfEmptyBody !== true ? undefined : contentDigest(body, digest);
  }

  #sign(rules: CoverageRules, message: SignedMessage, digest: Maybe<string>): Awaitable<HttpHeaders> {
    const { components, text } = rules.written(message, digest !== undefined);
    const parameters = text + this.#parameters();
    const signature = this.#key.sign(signatureBase(components, message, parameters, digest));
    if (signature instanceof Promise) return signature.then((late) => this.#fields(parameters, late, digest));
    return this.#fields(parameters, signature, digest);
  }

  #parameters(): string {
    const created = Math.floor(this.#now() / 1_000);
    if (created !== this.#second) this.#beginSecond(created);
    const after = this.#afterNonce;
    return after === undefined ? this.#beforeNonce : this.#beforeNonce + this.#nonce() + after;
  }

  #beginSecond(created: number): void {
    const expires = created + Math.floor(this.#profile.lifetimeMs / 1_000);
    const values = { ...this.#fixed, created: String(created), expires: String(expires) };
    const textOf = (names: readonly SignatureParameter[]): string =>
      names.flatMap((name) => (values[name] === undefined ? [] : [`;${name}=${values[name]}`])).join("");
    const names = this.#parameterNames;
    const nonceAt = names.indexOf("nonce");
    this.#second = created;
    this.#beforeNonce = nonceAt < 0 ? textOf(names) : `${textOf(names.slice(0, nonceAt))};nonce="`;
    this.#afterNonce = nonceAt < 0 ? undefined : `"${textOf(names.slice(nonceAt + 1))}`;
  }

  #fields(parameters: string, signature: Uint8Array, digest: Maybe<string>): HttpHeaders {
    const { label } = this.#profile;
    const input = `${label}=${parameters}`;
    const bytes = Buffer.isBuffer(signature) ? signature : Buffer.from(signature.buffer, signature.byteOffset, signature.length);
    const text = `${label}=:${bytes.toString("base64")}:`;
    return digest === undefined
      ? { "signature-input": input, signature: text }
      : { "signature-input": input, signature: text, "content-digest": digest };
  }
}

/** The `sign` of responses. `target`: the URL of the request as its caller wrote it. */
export function responseSigning(
  signer: MessageSigner,
  target: (request: RequestHead) => string,
): NonNullable<HttpResponse["sign"]> {
  return async (response, request) => {
    const { method, headers, rawHeaders } = request;
    return (await signer.response(response, { method, target: target(request), headers, rawHeaders })) ?? {};
  };
}

/**
 * RFC 9421 §2.5: a line for each component, and one for the parameters. `digest`: that of a message that is being written, which is not
 * among its fields yet.
 */
export function signatureBase(
  components: readonly Component[],
  message: SignedMessage,
  parameters: string,
  digest?: Maybe<string>,
): Uint8Array {
  let base = "";
  for (const component of components) {
    base += digest !== undefined && component.key === DIGEST ? `${DIGEST}: ${digest}\n` : component.lineIn(message);
  }
  return Buffer.from(`${base}"@signature-params": ${parameters}`, "latin1");
}
