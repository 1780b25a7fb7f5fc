import type { AgentEvent, Maybe, PushConfig, Task, TaskEvent } from "../../envelope/index.js";
import { isObject } from "../../envelope/index.js";
import type { HttpRequest } from "../../transport/exchange.js";
import { blame } from "../../transport/fields.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import type { IdSource, Notice, ReadNotice } from "../protocol.js";
import { v03 } from "./codec/codec-0.3.js";
import { v1 } from "./codec/codec-1.0.js";
import type { DecodeFacts, Dialect } from "./dialect.js";
import type { PushTokenHeader } from "./settings.js";

const X_TOKEN = "x-a2a-notification-token";
const PLAIN_TOKEN = "a2a-notification-token";
const TOKEN_HEADERS: { readonly [K in PushTokenHeader]: readonly string[] } = {
  x: [X_TOKEN],
  plain: [PLAIN_TOKEN],
  both: [X_TOKEN, PLAIN_TOKEN],
};
/** A 1.0 StreamResponse has exactly one of these members. */
const WRAPPERS = ["task", "message", "statusUpdate", "status_update", "artifactUpdate", "artifact_update"];

// Losses are declared in advance and not reported per notification.
const ignoreLoss = (): void => undefined;

/**
 * A2A 1.0 §4.3.3: one StreamResponse. 0.3: the complete task, as its servers send and its receivers read, or the event if the
 * task is no longer stored. Webhooks registered on 0.3 REST get the same form.
 */
export async function writeNotice(
  event: TaskEvent,
  config: PushConfig,
  task: () => Promise<Maybe<Task>>,
  tokenHeader: PushTokenHeader,
): Promise<Notice> {
  const secrets = secretHeaders(config, tokenHeader);
  const { via } = config;
  if (via?.protocol !== "a2a" || !via.version.startsWith("0."))
    return noticeOf(v1, event, { ...secrets, "content-type": "application/a2a+json" });
  const then = event.kind === "task" ? event.task : await task();
  const whole: AgentEvent = then === undefined ? event : { kind: "task", task: then };
  return noticeOf(v03, whole, { ...secrets, "content-type": "application/json" });
}

function noticeOf(dialect: Dialect, event: AgentEvent, headers: Notice["headers"]): Notice {
  return { headers, body: JSON.stringify(dialect.encodeStreamItem(event, ignoreLoss)) };
}

/** `Authorization` is a MUST if credentials were given (§4.3.3); the token is sent in addition. */
function secretHeaders({ token, authentication }: PushConfig, tokenHeader: PushTokenHeader): Record<string, string> {
  const headers: Record<string, string> = {};
  if (authentication?.credentials !== undefined)
    headers["authorization"] = `${authentication.scheme} ${authentication.credentials}`;
  if (token !== undefined) for (const name of TOKEN_HEADERS[tokenHeader]) headers[name] = token;
  return headers;
}

/** Reads a notification of either version, distinguished by its members. */
export function readNotice(request: HttpRequest, ids: IdSource): Maybe<ReadNotice> {
  const body = request.json();
  if (!isObject(body)) return undefined;
  const dialect = "kind" in body ? v03 : WRAPPERS.some((name) => name in body) ? v1 : undefined;
  if (dialect === undefined) return undefined;
  const facts: DecodeFacts = {
    now: ids.now(),
    src: "agent",
    dst: "caller",
    partsPerMessage: DEFAULT_LIMITS.partsPerMessage,
    reportLoss: ignoreLoss,
  };
  return {
    token: request.headers[X_TOKEN] ?? request.headers[PLAIN_TOKEN],
    event() {
      try {
        return dialect.decodeStreamItem(body, facts);
      } catch (thrown) {
        throw blame(thrown, "invalid_message");
      }
    },
  };
}
