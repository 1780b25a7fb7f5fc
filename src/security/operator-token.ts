import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { AgentError, type Maybe, type Principal } from "../envelope/index.js";
import type { HttpHeaders } from "../transport/exchange.js";
import type { Admission } from "./admission.js";

const TOKEN_BYTES = 24;
/** Shorter tokens can be guessed. */
const TOKEN_CHARACTERS = 16;
const BEARER = /^Bearer +(\S+)$/i;
const OPERATOR: Principal = Object.freeze({ id: "operator", scheme: "self", scopes: [], owner: "self:operator" });

export function newOperatorToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}

/**
 * Whether a request carries the token, in `x-koine-token` or as a bearer token. Compares keyed digests, so that timing reveals neither
 * the token nor its length.
 */
export function holdsToken(token: string): (request: { readonly headers: HttpHeaders }) => boolean {
  if (token.length < TOKEN_CHARACTERS)
    throw new AgentError("invalid_message", `the operator's token is too short: at least ${TOKEN_CHARACTERS} characters`, {
      field: "admin.token",
    });
  const salt = randomBytes(32).toString("hex");
  const digest = (text: string): Buffer => hash("sha256", salt + text, "buffer");
  const expected = digest(token);
  return (request) => timingSafeEqual(digest(shownToken(request) ?? ""), expected);
}

/** The token that a request shows. */
export function shownToken({ headers }: { readonly headers: HttpHeaders }): Maybe<string> {
  return headers["x-koine-token"] ?? BEARER.exec(headers["authorization"] ?? "")?.[1];
}

/** Admits the holder of the operator's token, and whom `others` admits. */
export function operatorAdmission(token: string, others: Maybe<Admission>): Admission {
  const holds = holdsToken(token);
  return (head, facts) => {
    if (holds(head)) return OPERATOR;
    if (others !== undefined && others.open !== true) return others(head, facts);
    throw new AgentError("unauthenticated", "The operator's token is required; its address is printed at start", {
      field: "x-koine-token",
    });
  };
}
