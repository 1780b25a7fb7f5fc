import { AgentError, type AgentEvent, type Maybe, systemIds } from "../envelope/index.js";
import { RecentMap } from "../envelope/recent-map.js";
import { protocols as registered } from "../protocols/all.js";
import type { IdSource, Protocol, ReadNotice } from "../protocols/protocol.js";
import { blindDigest } from "../security/blind-digest.js";
import type { Exchange, HttpRequest, HttpResponse } from "../transport/exchange.js";
import { fetchHandler } from "../transport/fetch-handler.js";
import { requestListener } from "../transport/node/index.js";
import { errorResponse } from "../transport/response.js";
import { PUSH_ID_HEADER } from "./push-id.js";

/** The secrets the webhook was registered with: at least one of the two, unless `fromAnybody` is set. */
export interface PushReceiverOptions {
  /** The token every notification must carry. */
  readonly token?: string;
  /** The `Authorization` header every notification must carry. */
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
  /** Explicitly accepts notifications from anonymous senders. */
  readonly fromAnybody?: boolean;
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  /** The id source. Default: random ids. */
  readonly ids?: IdSource;
}

/** A webhook, to be served at an address of your own. */
export interface PushReceiver {
  /** Handles the requests to the webhook. */
  readonly exchange: Exchange;
  /** For WHATWG fetch. */
  fetch(request: globalThis.Request): Promise<globalThis.Response>;
  /** For `node:http` and frameworks on it. Mount it before any body parser. */
  readonly listener: ReturnType<typeof requestListener>;
}

/** Delivery ids remembered, so that duplicates are acknowledged and not handled again. */
const REMEMBERED = 10_000;
const MAX_ID_CHARS = 4_096;

/**
 * Receives push notifications of every protocol and version. Each is passed to `onEvent` once, in the order of arrival, and
 * acknowledged when `onEvent` is done. If it throws, the sender retries.
 */
export function pushReceiver(options: PushReceiverOptions, onEvent: (event: AgentEvent) => void | Promise<void>): PushReceiver {
  const isAuthentic = senderCheck(options);
  const readers = options.protocols ?? registered;
  const ids = options.ids ?? systemIds;
  const handled = new RecentMap<Promise<void>>(REMEMBERED);

  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    if (request.method !== "POST") return refused(405, "invalid_message", "notifications are sent by POST", { allow: "POST" });
    let event: AgentEvent;
    try {
      const notice = readWith(readers, request, ids);
      if (!isAuthentic(request, notice?.token)) return refused(401, "unauthenticated", "invalid token or credentials");
      if (notice === undefined) return refused(400, "decode", "not a notification of a registered protocol");
      event = notice.event();
    } catch (thrown) {
      return errorResponse(400, AgentError.from(thrown));
    }
    try {
      await once(request.headers[PUSH_ID_HEADER], event);
      return { status: 204, headers: {}, body: undefined };
    } catch (thrown) {
      return errorResponse(500, AgentError.from(thrown));
    }
  }

  /** A duplicate waits for the first delivery and shares its result; after a failure the id can be delivered again. */
  async function once(id: Maybe<string>, event: AgentEvent): Promise<void> {
    if (id === undefined || id.length > MAX_ID_CHARS) return onEvent(event);
    const first = handled.get(id);
    if (first !== undefined) return first;
    const work = (async () => onEvent(event))();
    handled.set(id, work);
    try {
      await work;
    } catch (thrown) {
      handled.delete(id);
      throw thrown;
    }
  }

  return { exchange, fetch: fetchHandler(exchange), listener: requestListener(exchange) };
}

function readWith(readers: readonly Protocol[], request: HttpRequest, ids: IdSource): Maybe<ReadNotice> {
  for (const protocol of readers) {
    const notice = protocol.readNotice?.(request, ids);
    if (notice !== undefined) return notice;
  }
  return undefined;
}

/** Every configured secret must match; digests are compared, so timing reveals nothing. */
function senderCheck(options: PushReceiverOptions): (request: HttpRequest, token: Maybe<string>) => boolean {
  const { token, authentication, fromAnybody } = options;
  if (token === undefined && authentication === undefined && fromAnybody !== true) {
    throw new AgentError("invalid_message", "a push receiver needs token or authentication, or fromAnybody: true");
  }
  const digest = blindDigest();
  const same = (given: Maybe<string>, expected: Maybe<string>): boolean =>
    expected === undefined || (given !== undefined && digest(given) === digest(expected));
  const authorization = authentication && canonical(`${authentication.scheme} ${authentication.credentials}`);
  return (request, given) => same(given, token) && same(canonical(request.headers["authorization"] ?? ""), authorization);
}

/** RFC 9110 §11.1: the scheme in any case. */
function canonical(authorization: string): string {
  const space = authorization.indexOf(" ");
  return space === -1 ? authorization : `${authorization.slice(0, space).toLowerCase()} ${authorization.slice(space + 1).trim()}`;
}

function refused(
  status: number,
  code: "invalid_message" | "unauthenticated" | "decode",
  message: string,
  headers?: { readonly [name: string]: string },
): HttpResponse {
  return errorResponse(status, new AgentError(code, message), headers);
}
