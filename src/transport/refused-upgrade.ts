import { AgentError, type ErrorCode, isObject, type Maybe } from "../envelope/index.js";
import { ByteCollector, bytesOf } from "./body.js";
import { type HttpHeaders, type HttpResponse, isStream } from "./exchange.js";
import { readRetryAfter } from "./retry-after.js";
import { CODE_OF_STATUS } from "./status-codes.js";

/** How much of a refusal is read. */
export const REFUSAL_BYTES = 64 * 1024;

const MESSAGE_CHARACTERS = 1_000;

/** The response of a peer that did not open the session. */
interface Refusal {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** At most `REFUSAL_BYTES`. */
  readonly body: Uint8Array;
}

/** The error for a response other than 101 to an upgrade request. Nothing but the request was sent. */
export function refusedUpgrade(host: string, { status, headers, body }: Refusal): AgentError {
  const said = messageIn(body);
  const retryAfterMs = readRetryAfter(headers);
  const challenge = headers["www-authenticate"];
  return new AgentError(codeOf(status), `${host} ${refusalOf(status)}${said === undefined ? "" : `: ${said}`}`, {
    sent: "no",
    status,
    ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
    ...(challenge === undefined ? undefined : { head: { "www-authenticate": challenge } }),
  });
}

/** The beginning of a refusal's body, enough for its message. */
export async function refusalBody(body: HttpResponse["body"]): Promise<Uint8Array> {
  if (body === undefined) return bytesOf("");
  if (!isStream(body)) return bytesOf(body).subarray(0, REFUSAL_BYTES);
  const collected = new ByteCollector(REFUSAL_BYTES);
  for await (const chunk of body) if (!collected.add(bytesOf(chunk))) break;
  return collected.whole();
}

function codeOf(status: number): ErrorCode {
  const code = CODE_OF_STATUS.get(status);
  if (code !== undefined) return code;
  if (status === 426) return "unsupported_version";
  if (status < 400) return "bad_peer";
  return status < 500 ? "invalid_message" : "internal";
}

function refusalOf(status: number): string {
  if (status >= 300 && status < 400)
    return `answered the upgrade request with a redirect (HTTP ${status}), which is not followed`;
  if (status < 400) return `does not upgrade to WebSocket here (HTTP ${status})`;
  return `refused the session (HTTP ${status})`;
}

/** The message of an error in JSON, or the text itself. */
function messageIn(body: Uint8Array): Maybe<string> {
  const text = new TextDecoder().decode(body).trim();
  const message = jsonMessage(text) ?? (/^[<{[]/.test(text) ? undefined : text);
  return message === undefined || message === "" ? undefined : message.slice(0, MESSAGE_CHARACTERS);
}

function jsonMessage(text: string): Maybe<string> {
  if (!text.startsWith("{")) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isObject(parsed)) return undefined;
    for (const { message } of [isObject(parsed.error) ? parsed.error : parsed, parsed]) {
      if (typeof message === "string") return message;
    }
  } catch {
    // Not JSON, or cut: the status says enough.
  }
  return undefined;
}
