import { AgentError, type Maybe } from "../../../envelope/index.js";
import { ACCEPT_SIGNATURE } from "./signatures.js";

/** The codes of a challenge (ANP-02 §5). A client does not try again after the last three. */
export type ChallengeCode =
  | "invalid_request"
  | "invalid_nonce"
  | "invalid_timestamp"
  | "invalid_signature"
  | "invalid_content_digest"
  | "invalid_access_token"
  | "invalid_did"
  | "invalid_verification_method"
  | "forbidden_did";

/** The header fields of a refusal: what is wrong, and how to sign. */
export function challengeHead(
  realm: string,
  problem?: Maybe<{ readonly code: ChallengeCode; readonly description: string; readonly nonce?: Maybe<string> }>,
): { readonly [name: string]: string } {
  const wrong = problem === undefined ? "" : `, error="${problem.code}", error_description="${quotable(problem.description)}"`;
  const nonce = problem?.nonce === undefined ? "" : `, nonce="${problem.nonce}"`;
  return {
    "www-authenticate": `DIDWba realm="${quotable(realm)}"${wrong}${nonce}`,
    "accept-signature": ACCEPT_SIGNATURE,
    "cache-control": "no-store",
  };
}

/** A refusal with its challenge; `code` is that of the error beside the finer one. */
export function refusal(
  realm: string,
  problem: { readonly code: ChallengeCode; readonly description: string; readonly nonce?: Maybe<string> },
  cause?: unknown,
): AgentError {
  const kept = cause instanceof AgentError ? cause.code : "unauthenticated";
  const code = kept === "identity_unresolved" || kept === "replayed" || kept === "bad_signature" ? kept : "unauthenticated";
  const detail = { ...(cause instanceof AgentError ? cause.facts.detail : undefined), reason: problem.code };
  return new AgentError(code, problem.description, { detail, head: challengeHead(realm, problem), cause });
}

function quotable(text: string): string {
  return text
    .replaceAll(/["\\\r\n]/g, "'")
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .slice(0, 300);
}

/** What a challenge of a peer says. Undefined: it is not one of ANP. */
export function readChallenge(header: Maybe<string>): Maybe<{ readonly code: Maybe<string>; readonly nonce: Maybe<string> }> {
  if (header === undefined || !/\bDIDWba\b/i.test(header)) return undefined;
  const member = (name: string): Maybe<string> => new RegExp(`[\\s,]${name}="([^"]{1,256})"`, "i").exec(header)?.[1];
  return { code: member("error"), nonce: member("nonce") };
}

const FINAL: ReadonlySet<Maybe<string>> = new Set(["invalid_did", "invalid_verification_method", "forbidden_did"]);

/** Signing again cannot help. */
export function isFinal(code: Maybe<string>): boolean {
  return FINAL.has(code);
}
