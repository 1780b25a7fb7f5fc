import { AgentError, type Maybe } from "../../../envelope/index.js";
import { isSageError } from "../errors.js";
import type { SessionError } from "../session/session-error.js";

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

/** The refusal of a request in a session that has ended here, with the nonce for the handshake that makes the next one. */
export function endedSession(error: SessionError, nonce: string): AgentError {
  const ended = new AgentError(error.code, error.message, {
    ...error.facts,
    detail: { ...error.facts.detail, nonce },
    cause: error,
  });
  ended.name = error.name;
  return ended;
}

/** The nonce with which a handshake is no older than the refusal: a server that has just started does not ask for another one. */
export function nonceOfEndedSession(error: AgentError): Maybe<string> {
  const nonce = isSageError(error, "ErrSessionExpired") ? error.facts.detail?.["nonce"] : undefined;
  return nonce !== undefined && NONCE.test(nonce) ? nonce : undefined;
}
