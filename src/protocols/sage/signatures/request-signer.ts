import { AgentError, type AuthoredRequest, type Call, type Maybe } from "../../../envelope/index.js";
import { didOfUrl, type Identity, type Resolver } from "../../../security/identity/index.js";
import { type MessageSigner, type SignatureProfile, SignatureVerifier } from "../../../security/signatures/index.js";
import { wholeBody } from "../../../transport/body.js";
import { type HttpRequest, type HttpResponse, isStream, type RequestSigner } from "../../../transport/exchange.js";
import type { ClientContext } from "../../protocol.js";
import { SageError, sageError } from "../errors.js";
import { signerKey } from "../identity/signing-key.js";
import { writeAuthor } from "../message/task-request.js";
import type { SageSession } from "../session/session.js";
import { AUTHOR_HEADER, DID_HEADER, SESSION_HEADER, STREAM_HEADER } from "../wire.js";
import { ownSigner, sessionSigner } from "./own-signer.js";
import { SIGNATURES } from "./profile.js";
import { verifiedFrames } from "./stream-frames.js";

const verifier = new SignatureVerifier(SIGNATURES);

export interface RequestSigning {
  readonly context: Pick<ClientContext, "now" | "limits"> & { readonly resolver: Resolver };
  readonly identity: Identity;
  readonly profile: SignatureProfile;
  /** The DID that must sign the answers. */
  readonly peerDid: string;
  /** The nonce that the peer asked for, where it has just started. */
  challenge(call: Maybe<Call>): Maybe<string>;
  /** The proof of the author that a call carries. */
  author(call: Maybe<Call>): Maybe<AuthoredRequest>;
  /** The session that a call is in. */
  session(call: Maybe<Call>): Maybe<SageSession>;
}

/** Signs each sending of a request, and verifies the answer: by the peer that was called, for this request. */
export function requestSigner(signing: RequestSigning): RequestSigner {
  const { identity, context, profile } = signing;
  const now = (): number => context.now();
  const signer = ownSigner(identity, now, { profile });
  const bySession = sessionSigner(now, profile);
  /** The key of a session is faster. A server reads only so much of a request before it knows the caller. */
  const signerFor = ({ body }: HttpRequest, session: Maybe<SageSession>): MessageSigner =>
    session === undefined || !session.isUsable || body.length > context.limits.unprovenBytes ? signer() : bySession(session);
  return {
    did: identity.did,
    peerDid: signing.peerDid,
    async sign(request) {
      const session = signing.session(request.call);
      const author = signing.author(request.call);
      // Written in place: a spread after the first costs microseconds, and this is done for every request.
      const own: Record<string, string> = { date: new Date(context.now()).toUTCString(), [DID_HEADER]: identity.did };
      if (session !== undefined) own[SESSION_HEADER] = session.keyId;
      if (author !== undefined) own[AUTHOR_HEADER] = writeAuthor(author);
      const headers = Object.assign({ ...request.headers }, own);
      const nonce = signing.challenge(request.call);
      const used = nonce === undefined ? signerFor(request, session) : ownSigner(identity, now, { nonce, profile })();
      return Object.assign(own, await used.request({ method: request.method, target: request.target, headers }, request.body));
    },
    verify: (response, request) => verifiedAnswer(response, request, signing),
  };
}

async function verifiedAnswer(response: HttpResponse, request: HttpRequest, signing: RequestSigning): Promise<HttpResponse> {
  const { context, peerDid } = signing;
  const { status, headers, jsonLimits } = response;
  const known = { status, headers, jsonLimits };
  const session = signing.session(request.call);
  const streamId: Maybe<string> = headers[STREAM_HEADER];
  const body = streamId === undefined ? await wholeBody(response.body, context.limits.bodyBytes) : undefined;
  try {
    const { method, target } = request;
    const verified = await verifier.verify({
      message: { request: { method, target, headers: request.headers }, response: { status, headers } },
      kind: streamId === undefined ? "response" : "stream",
      hasBody: true,
      nowMs: context.now(),
      keys(keyId) {
        if (session !== undefined && keyId === session.keyId && headers[DID_HEADER] === peerDid) return session.verificationKey();
        if (didOfUrl(keyId) !== peerDid || headers[DID_HEADER] !== peerDid)
          throw new SageError("sig.binding", `the answer is signed by ${keyId.slice(0, 200)}, and ${peerDid} was called`);
        return signerKey(keyId, { resolver: context.resolver, now: () => context.now(), cancel: request.cancel });
      },
    });
    if (streamId !== undefined && isStream(response.body))
      return { ...known, body: verifiedFrames(response.body, streamId, verified.key, context.limits) };
    if (body === undefined) throw new SageError("message.malformed", "the answer has the id of a stream, and is none");
    verifier.checkBody(verified, body);
    return { ...known, body };
  } catch (thrown) {
    if (isStream(response.body)) void response.body[Symbol.asyncIterator]().return?.();
    throw unverified(thrown, status);
  }
}

/** Nobody knows who sent an answer that is not signed: what it says, its status included, is not believed. */
function unverified(thrown: unknown, status: number): AgentError {
  const error = sageError(thrown);
  const facts = { ...error.facts, sent: "maybe" as const, detail: { ...error.facts.detail, status: String(status) } };
  const renamed = new AgentError(error.code, `the answer cannot be verified: ${error.message}`, facts);
  renamed.name = error.name;
  return renamed;
}
