import { AgentError, encodeBase64, isObject, type Maybe } from "../envelope/index.js";
import { fetchJson, hostOf, type JsonAnswer, type JsonQuestion } from "./fetch-json.js";

/** Who asks for a token, and how it proves that. */
export interface TokenClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A question to a token endpoint (RFC 6749 §3.2). */
export interface TokenQuestion extends Pick<JsonQuestion, "url" | "timeoutMs" | "maxBytes" | "link" | "tls"> {
  /** Undefined where the endpoint asks nobody who it is. */
  readonly client: Maybe<TokenClient>;
  readonly form: { readonly [name: string]: Maybe<string> };
  /** The life of a token that does not say how long it lives. */
  readonly unknownLifeMs: number;
  /** What a refusal means; the error is a word of RFC 6749 §5.2, or empty. */
  refused(status: number, error: string): AgentError;
}

export interface GivenToken {
  readonly token: string;
  readonly lifeMs: number;
}

/** What can stand in an Authorization header, and is not longer than one may be. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403]);

/** Asks once for a bearer token. */
export async function askForToken(question: TokenQuestion): Promise<GivenToken> {
  const { status, json } = await ask(question);
  const host = hostOf(question.url);
  const answer = isObject(json) ? json : {};
  if (REFUSALS.has(status)) throw question.refused(status, errorWord(answer["error"]));
  if (status !== 200)
    throw new AgentError("unavailable", `no token could be had: ${host} answered with HTTP ${status}`, { sent: "no" });
  const { access_token: token, token_type: type, expires_in: seconds } = answer;
  if (typeof token !== "string" || !TOKEN.test(token) || typeof type !== "string" || type.toLowerCase() !== "bearer")
    throw new AgentError("bad_peer", `${host} answered, but not with a bearer token`, { sent: "no" });
  const life = Number(seconds);
  return { token, lifeMs: life > 0 && Number.isFinite(life) ? life * 1000 : question.unknownLifeMs };
}

async function ask({ url, client, form, timeoutMs, maxBytes, link, tls }: TokenQuestion): Promise<JsonAnswer> {
  const said = Object.entries(form).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const headers = { "content-type": "application/x-www-form-urlencoded", authorization: client && basic(client) };
  const body = new URLSearchParams(Object.fromEntries(said)).toString();
  try {
    return await fetchJson({ method: "POST", url, headers, body, timeoutMs, maxBytes, link, tls });
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    throw new AgentError(code === "deadline" ? "deadline" : "unavailable", `no token could be had: ${message}`, {
      sent: "no",
      cause: thrown,
    });
  }
}

/** RFC 6749 §2.3.1: both are form-encoded before they are joined. */
function basic({ clientId, clientSecret }: TokenClient): string {
  const encode = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${encodeBase64(new TextEncoder().encode(`${encode(clientId)}:${encode(clientSecret)}`))}`;
}

/** RFC 6749 §5.2 has words for it; anything else is not repeated. */
function errorWord(error: unknown): string {
  return typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? error : "";
}

/** When a token is renewed: so long before it expires, or after four fifths of its life if that comes later. */
export function renewAfterMs(lifeMs: number, earlyMs: number): number {
  return lifeMs - Math.min(earlyMs, lifeMs / 5);
}

/** When a token says it expires, in milliseconds since the epoch; undefined for one that says nothing that can be read. */
export function expiryOf(token: string): Maybe<number> {
  const [, payload = ""] = token.split(".", 3);
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return isObject(claims) && typeof claims["exp"] === "number" ? claims["exp"] * 1000 : undefined;
  } catch {
    return undefined;
  }
}
