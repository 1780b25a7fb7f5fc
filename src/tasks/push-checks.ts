import { AgentError, type PushConfig } from "../envelope/index.js";

const MAX_URL_CHARS = 2_048;
const MAX_ID_CHARS = 256;
/** Two of these fit into the headers of one request. */
const MAX_SECRET_CHARS = 4_096;
/** RFC 9110 §5.6.2. */
const SCHEME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
const HEADER_TEXT = /^[\x20-\x7e]*$/;

/** Validates a push configuration without resolving names. Errors never contain a secret. */
export function checkPush({ id, url, token, authentication }: PushConfig): void {
  if (id.length > MAX_ID_CHARS) throw wrong("id", `must have at most ${MAX_ID_CHARS} characters`);
  checkUrl(url);
  if (token !== undefined) checkSecret("token", token);
  if (authentication === undefined) return;
  if (!SCHEME.test(authentication.scheme)) throw wrong("authentication.scheme", "must be the name of an HTTP scheme");
  if (authentication.credentials !== undefined) checkSecret("authentication.credentials", authentication.credentials);
}

function checkUrl(url: string): void {
  if (url.length > MAX_URL_CHARS) throw wrong("url", `must have at most ${MAX_URL_CHARS} characters`);
  if (!URL.canParse(url)) throw wrong("url", "must be an absolute URL");
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") throw wrong("url", "must be http or https");
  if (username !== "" || password !== "") throw wrong("url", "must not contain credentials; use authentication");
}

function checkSecret(field: string, secret: string): void {
  if (secret.length > MAX_SECRET_CHARS || !HEADER_TEXT.test(secret))
    throw wrong(field, `must be at most ${MAX_SECRET_CHARS} characters that a header can carry`);
}

function wrong(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `${field}: ${problem}`, { field });
}
