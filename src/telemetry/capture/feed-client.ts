import { AgentError, type Cancel, type Maybe } from "../../envelope/index.js";
import { type Clock, systemClock } from "../../policies/index.js";
import { bytesOf, wholeBody } from "../../transport/body.js";
import { type HttpResponse, isStream, type Link } from "../../transport/exchange.js";
import { INNER_JSON_LIMITS, readJson } from "../../transport/json.js";
import { makeRequest } from "../../transport/request.js";
import { type SseEvent, sseEvents } from "../../transport/sse.js";
import type { CapturedMessage, CapturedMessageSummary, CaptureFilter } from "./captured-message.js";
import { API_PATH } from "./routes.js";

/** The inspector API of another process. */
export interface InspectedHost {
  readonly link: Link;
  /** Scheme, host and port. */
  readonly url: string;
  readonly headers?: Maybe<{ readonly [name: string]: string }>;
  readonly clock?: Maybe<Clock>;
  /** Ends all requests. */
  readonly cancel: Cancel;
}

/** An item of the feed: a message, a gap, or a change of the connection. */
export type FeedItem =
  | { readonly kind: "message"; readonly message: CapturedMessage }
  /** At least this many messages were evicted before they could be read. */
  | { readonly kind: "gap"; readonly missed: number }
  | { readonly kind: "connected" }
  /** The connection ended; the client reconnects after `waitMs`. */
  | { readonly kind: "cut"; readonly error: AgentError; readonly waitMs: number };

const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
const JSON_LIMITS = { ...INNER_JSON_LIMITS, jsonDepth: 256 };
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;

/** New and changed messages of another process, until cancelled. After a disconnect it resumes at the last received `seq`. */
export async function* followFeed(host: InspectedHost, filter: CaptureFilter, after?: Maybe<number>): AsyncGenerator<FeedItem> {
  let cursor = after;
  let waitMs = FIRST_WAIT_MS;
  let connected = false;
  while (!host.cancel.cancelled) {
    try {
      for await (const item of readFeed(host, filter, cursor)) {
        connected = true;
        waitMs = FIRST_WAIT_MS;
        if (item.kind === "message") cursor = item.message.seq;
        yield item;
      }
      throw new AgentError("interrupted", "the gateway closed the feed");
    } catch (thrown) {
      if (host.cancel.cancelled) return;
      const error = AgentError.from(thrown);
      if (!connected || !isTransient(error)) throw error;
      yield { kind: "cut", error, waitMs };
      await (host.clock ?? systemClock).sleep(waitMs, host.cancel).catch(() => undefined);
      waitMs = Math.min(MAX_WAIT_MS, waitMs * 2);
    }
  }
}

/** The captured messages, newest first. */
export async function readMessages(
  host: InspectedHost,
  filter: CaptureFilter,
  limit: number,
): Promise<readonly CapturedMessageSummary[]> {
  const answer = await read(host, `/messages?${query(filter, { limit: String(limit) })}`);
  return (answer as { readonly messages: readonly CapturedMessageSummary[] }).messages; // our own route
}

/** Undefined if the message has been evicted. */
export async function readMessage(host: InspectedHost, id: string): Promise<Maybe<CapturedMessage>> {
  return (await readIfFound(host, `/messages/${encodeURIComponent(id)}`)) as Maybe<CapturedMessage>; // our own route
}

/** All messages of one trace, oldest first; empty if the trace is unknown. */
export async function readTrace(host: InspectedHost, traceId: string): Promise<readonly CapturedMessage[]> {
  return ((await readIfFound(host, `/traces/${encodeURIComponent(traceId)}`)) ?? []) as readonly CapturedMessage[]; // our own route
}

async function* readFeed(host: InspectedHost, filter: CaptureFilter, cursor: Maybe<number>): AsyncGenerator<FeedItem> {
  const extraHeaders = { accept: "text/event-stream", ...(cursor === undefined ? {} : { "last-event-id": String(cursor) }) };
  const response = await get(host, `/feed?${query(filter, { whole: "1" })}`, extraHeaders);
  if (!isStream(response.body)) throw new AgentError("bad_peer", "the feed is not an event stream");
  yield { kind: "connected" };
  for await (const event of sseEvents(response.body, MAX_EVENT_BYTES)) yield itemOf(event);
}

function itemOf({ event, data }: SseEvent): FeedItem {
  const value = readJson(bytesOf(data), JSON_LIMITS);
  if (event === "gap") return { kind: "gap", missed: (value as { missed: number }).missed };
  return { kind: "message", message: value as CapturedMessage }; // written by our own feed
}

async function readIfFound(host: InspectedHost, path: string): Promise<unknown> {
  return read(host, path).catch((thrown: unknown) => {
    if (AgentError.from(thrown).code === "not_found") return undefined;
    throw thrown;
  });
}

async function read(host: InspectedHost, path: string): Promise<unknown> {
  const response = await get(host, path, { accept: "application/json" });
  return readJson(await wholeBody(response.body, MAX_RESPONSE_BYTES), JSON_LIMITS);
}

async function get(host: InspectedHost, path: string, extraHeaders: { readonly [name: string]: string }): Promise<HttpResponse> {
  const url = host.url.replace(/\/$/, "") + API_PATH + path;
  const response = await host.link.exchange(
    makeRequest({ method: "GET", url, headers: { ...host.headers, ...extraHeaders }, cancel: host.cancel }),
  );
  if (response.status === 200) return response;
  if (isStream(response.body)) await response.body[Symbol.asyncIterator]().return?.();
  throw refusal(response.status);
}

function refusal(status: number): AgentError {
  if (status === 401)
    return new AgentError("unauthenticated", "the gateway requires credentials for the inspector API", { status });
  if (status === 403) return new AgentError("forbidden", "the gateway denied access to the inspector API", { status });
  if (status === 503 || status === 502) return new AgentError("unavailable", `the gateway answered ${status}`, { status });
  if (status === 400) return new AgentError("invalid_message", "the gateway rejected the filter", { status });
  return new AgentError("not_found", "no inspector API at this address", { status });
}

/** Errors that a restarting gateway produces. */
function isTransient({ code }: AgentError): boolean {
  return code === "unavailable" || code === "interrupted" || code === "deadline";
}

function query(filter: CaptureFilter, extraHeaders: { readonly [name: string]: string }): string {
  const { agent, traceId: trace, protocol, direction, status, text } = filter;
  const given = Object.entries({ agent, trace, protocol, direction, status, text, ...extraHeaders });
  return new URLSearchParams(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]])),
  ).toString();
}
