import { AgentError, type Maybe } from "../../../envelope/index.js";

const NAME = "ErrReplayAttack";
const REASON = "sig.challenge";
const NONCE = /^[\w.-]{1,256}$/;

/** The answer of a server that has just started, and does not know what it accepted before: sign again, with this nonce. */
export function challenge(nonce: string): AgentError {
  return new AgentError("unauthenticated", "this server has just started: sign again with the nonce of this answer", {
    detail: { error: NAME, reason: REASON, nonce },
  });
}

/** The nonce that a peer asks for. */
export function challengeIn({ code, facts: { detail } }: AgentError): Maybe<string> {
  const nonce = code === "unauthenticated" && detail?.["reason"] === REASON ? detail["nonce"] : undefined;
  return nonce !== undefined && NONCE.test(nonce) ? nonce : undefined;
}
