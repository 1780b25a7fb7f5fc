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

/** What was given when the webhook was registered. At least one of the two, or everybody may tell us anything. */
export interface PushReceiverOptions {
  readonly token?: string;
  readonly authentication?: { readonly scheme: string; readonly credentials: string };
  /** Said in words: take notifications from whoever finds the address. */
  readonly fromAnybody?: boolean;
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  readonly ids?: IdSource;
}

/** A webhook, to be put behind an address of your own. */
export interface PushReceiver {
  readonly exchange: Exchange;
  /** For whatever speaks WHATWG fetch. */
  fetch(request: globalThis.Request): Promise<globalThis.Response>;
  /** For `node:http` and what is made of it. Mount it before any body parser. */
  readonly listener: ReturnType<typeof requestListener>;
}

/** Notifications that are remembered so that a second delivery is answered and not handed on. */
const REMEMBERED = 10_000;
const MAX_ID_CHARS = 4_096;

/**
 * Takes push notifications of every protocol and version. Each is handed to `onEvent` once, in the order of arrival; it is
 * acknowledged when `onEvent` is done, and the sender tries again when it throws.
 */
export function pushReceiver(options: PushReceiverOptions, onEvent: (event: AgentEvent) => void | Promise<void>): PushReceiver {
  const mayTell = tellerCheck(options);
  const readers = options.protocols ?? registered;
  const ids = options.ids ?? systemIds;
  const taken = new RecentMap<Promise<void>>(REMEMBERED);

  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    if (request.method !== "POST") return refused(405, "invalid_message", "notifications come by POST", { allow: "POST" });
    let event: AgentEvent;
    try {
      const notice = readWith(readers, request, ids);
      if (!mayTell(request, notice?.token)) return refused(401, "unauthenticated", "the token or the credentials are not right");
      if (notice === undefined) return refused(400, "decode", "this is no notification of a protocol spoken here");
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

  /** The same id a second time waits for the first and shares its fate; after a failure it counts anew. */
  async function once(id: Maybe<string>, event: AgentEvent): Promise<void> {
    if (id === undefined || id.length > MAX_ID_CHARS) return onEvent(event);
    const before = taken.get(id);
    if (before !== undefined) return before;
    const work = (async () => onEvent(event))();
    taken.set(id, work);
    try {
      await work;
    } catch (thrown) {
      taken.delete(id);
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

/** Everything that was agreed on must be there; digests are compared, so the time it takes tells nothing. */
function tellerCheck(options: PushReceiverOptions): (request: HttpRequest, token: Maybe<string>) => boolean {
  const { token, authentication, fromAnybody } = options;
  if (token === undefined && authentication === undefined && fromAnybody !== true) {
    throw new AgentError("invalid_message", "a push receiver needs a token or credentials, or fromAnybody");
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
