import { AgentError, encodeBase64, isObject, type Maybe } from "../envelope/index.js";
import { fetchJson, hostOf, type JsonRequest, type JsonResponse } from "./fetch-json.js";

/** The client credentials for a token request. */
export interface TokenClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A request to a token endpoint (RFC 6749 §3.2). */
export interface TokenRequest extends Pick<JsonRequest, "url" | "timeoutMs" | "maxBytes" | "link" | "tls"> {
  /** Undefined if the endpoint does not authenticate clients. */
  readonly client: Maybe<TokenClient>;
  readonly form: { readonly [name: string]: Maybe<string> };
  /** The assumed lifetime of a token without `expires_in`. */
  readonly defaultLifeMs: number;
  /** Maps a refusal to an error; `error` is a code of RFC 6749 §5.2 or empty. */
  refused(status: number, error: string): AgentError;
}

export interface IssuedToken {
  readonly token: string;
  readonly lifeMs: number;
}

/** Valid characters and length of a token in an Authorization header. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403]);

/** Requests one bearer token. */
export async function requestToken(request: TokenRequest): Promise<IssuedToken> {
  const { status, json } = await ask(request);
  const host = hostOf(request.url);
  const answer = isObject(json) ? json : {};
  if (REFUSALS.has(status)) throw request.refused(status, errorCodeIn(answer["error"]));
  if (status !== 200)
    throw new AgentError("unavailable", `cannot obtain a token: ${host} answered with HTTP ${status}`, { sent: "no" });
  const { access_token: token, token_type: type, expires_in: seconds } = answer;
  if (typeof token !== "string" || !TOKEN.test(token) || typeof type !== "string" || type.toLowerCase() !== "bearer")
    throw new AgentError("bad_peer", `${host} did not return a bearer token`, { sent: "no" });
  const life = Number(seconds);
  return { token, lifeMs: life > 0 && Number.isFinite(life) ? life * 1000 : request.defaultLifeMs };
}

async function ask({ url, client, form, timeoutMs, maxBytes, link, tls }: TokenRequest): Promise<JsonResponse> {
  const fields = Object.entries(form).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  const headers = { "content-type": "application/x-www-form-urlencoded", authorization: client && basic(client) };
  const body = new URLSearchParams(Object.fromEntries(fields)).toString();
  try {
    return await fetchJson({ method: "POST", url, headers, body, timeoutMs, maxBytes, link, tls });
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    throw new AgentError(code === "deadline" ? "deadline" : "unavailable", `cannot obtain a token: ${message}`, {
      sent: "no",
      cause: thrown,
    });
  }
}

/** RFC 6749 §2.3.1: both are form-encoded before joining. */
function basic({ clientId, clientSecret }: TokenClient): string {
  const encode = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
  return `Basic ${encodeBase64(new TextEncoder().encode(`${encode(clientId)}:${encode(clientSecret)}`))}`;
}

/** An error code of RFC 6749 §5.2; any other text is not repeated. */
function errorCodeIn(error: unknown): string {
  return typeof error === "string" && /^[a-z_]{1,64}$/.test(error) ? error : "";
}

/** When to renew a token: `earlyMs` before it expires, or after four fifths of its lifetime if that is later. */
export function renewAfterMs(lifeMs: number, earlyMs: number): number {
  return lifeMs - Math.min(earlyMs, lifeMs / 5);
}

/** The expiry of a JWT in milliseconds since the epoch; undefined if it has none or is not readable. */
export function expiryOf(token: string): Maybe<number> {
  const [, payload = ""] = token.split(".", 3);
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return isObject(claims) && typeof claims["exp"] === "number" ? claims["exp"] * 1000 : undefined;
  } catch {
    return undefined;
  }
}
