import { AgentError, type Cancel, type Maybe } from "../../envelope/index.js";
import { type Clock, systemClock } from "../../policies/index.js";
import { bytesOf, wholeBody } from "../../transport/body.js";
import { type HttpResponse, isStream, type Link } from "../../transport/exchange.js";
import { readJson } from "../../transport/json.js";
import { makeRequest } from "../../transport/request.js";
import { type SseEvent, sseEvents } from "../../transport/sse.js";
import type { CapturedMessage, CapturedMessageSummary, CaptureFilter } from "./captured-message.js";
import { API_PATH } from "./routes.js";

/** Where another process is looked at. */
export interface InspectedHost {
  readonly link: Link;
  /** Scheme, host and port. */
  readonly url: string;
  readonly headers?: Maybe<{ readonly [name: string]: string }>;
  readonly clock?: Maybe<Clock>;
  /** Ends everything that is under way. */
  readonly cancel: Cancel;
}

export type FeedItem =
  | { readonly kind: "message"; readonly sighting: CapturedMessage }
  /** So many were forgotten before we could read them, at least. */
  | { readonly kind: "gap"; readonly missed: number }
  | { readonly kind: "connected" }
  /** The connection ended; another try follows. */
  | { readonly kind: "cut"; readonly error: AgentError; readonly waitMs: number };

const ANSWER_BYTES = 256 * 1024 * 1024;
const ANSWER_DEPTH = 256;
const EVENT_BYTES = 16 * 1024 * 1024;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/** New and changed sightings of another process, whole, until they are not wanted any more. What is there after a cut is taken up where it ended. */
export async function* followFeed(host: InspectedHost, filter: CaptureFilter, after?: Maybe<number>): AsyncGenerator<FeedItem> {
  let place = after;
  let waitMs = FIRST_WAIT_MS;
  let reached = false;
  while (!host.cancel.cancelled) {
    try {
      for await (const item of once(host, filter, place)) {
        reached = true;
        waitMs = FIRST_WAIT_MS;
        if (item.kind === "message") place = item.sighting.seq;
        yield item;
      }
      throw new AgentError("interrupted", "the gateway ended the feed");
    } catch (thrown) {
      if (host.cancel.cancelled) return;
      const error = AgentError.from(thrown);
      if (!reached || !isPassing(error)) throw error;
      yield { kind: "cut", error, waitMs };
      await (host.clock ?? systemClock).sleep(waitMs, host.cancel).catch(() => undefined);
      waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
    }
  }
}

/** What is there now, the newest first. */
export async function readMessages(
  host: InspectedHost,
  filter: CaptureFilter,
  limit: number,
): Promise<readonly CapturedMessageSummary[]> {
  const answer = await read(host, `/messages?${query(filter, { limit: String(limit) })}`);
  return (answer as { readonly messages: readonly CapturedMessageSummary[] }).messages; // our own route
}

/** Undefined when it was forgotten in the meantime. */
export async function readMessage(host: InspectedHost, id: string): Promise<Maybe<CapturedMessage>> {
  return (await readIfThere(host, `/messages/${encodeURIComponent(id)}`)) as Maybe<CapturedMessage>; // our own route
}

/** Everything of one trace, by time; empty when nothing of it is known. */
export async function readTrace(host: InspectedHost, traceId: string): Promise<readonly CapturedMessage[]> {
  return ((await readIfThere(host, `/traces/${encodeURIComponent(traceId)}`)) ?? []) as readonly CapturedMessage[]; // our own route
}

async function* once(host: InspectedHost, filter: CaptureFilter, place: Maybe<number>): AsyncGenerator<FeedItem> {
  const more = { accept: "text/event-stream", ...(place === undefined ? {} : { "last-event-id": String(place) }) };
  const response = await ask(host, `/feed?${query(filter, { whole: "1" })}`, more);
  if (!isStream(response.body)) throw new AgentError("bad_peer", "the feed is no stream of events");
  yield { kind: "connected" };
  for await (const event of sseEvents(response.body, EVENT_BYTES)) yield itemOf(event);
}

function itemOf({ event, data }: SseEvent): FeedItem {
  const value = readJson(bytesOf(data), ANSWER_DEPTH);
  if (event === "gap") return { kind: "gap", missed: (value as { missed: number }).missed };
  return { kind: "message", sighting: value as CapturedMessage }; // written by our own feed
}

async function readIfThere(host: InspectedHost, path: string): Promise<unknown> {
  return read(host, path).catch((thrown: unknown) => {
    if (AgentError.from(thrown).code === "not_found") return undefined;
    throw thrown;
  });
}

async function read(host: InspectedHost, path: string): Promise<unknown> {
  const response = await ask(host, path, { accept: "application/json" });
  return readJson(await wholeBody(response.body, ANSWER_BYTES), ANSWER_DEPTH);
}

async function ask(host: InspectedHost, path: string, more: { readonly [name: string]: string }): Promise<HttpResponse> {
  const url = host.url.replace(/\/$/, "") + API_PATH + path;
  const response = await host.link.exchange(
    makeRequest({ method: "GET", url, headers: { ...host.headers, ...more }, cancel: host.cancel }),
  );
  if (response.status === 200) return response;
  if (isStream(response.body)) await response.body[Symbol.asyncIterator]().return?.();
  throw refusal(response.status);
}

function refusal(status: number): AgentError {
  if (status === 401) return new AgentError("unauthenticated", "the gateway wants to know who looks", { status });
  if (status === 403) return new AgentError("forbidden", "the gateway does not let us look", { status });
  if (status === 503 || status === 502) return new AgentError("unavailable", `the gateway answered ${status}`, { status });
  if (status === 400) return new AgentError("invalid_message", "the gateway does not understand this filter", { status });
  return new AgentError("not_found", "nothing can be looked at there", { status });
}

/** A gateway that restarts answers nothing, or not yet. */
function isPassing({ code }: AgentError): boolean {
  return code === "unavailable" || code === "interrupted" || code === "deadline";
}

function query(filter: CaptureFilter, more: { readonly [name: string]: string }): string {
  const { agent, traceId: trace, protocol, direction, status, text } = filter;
  const given = Object.entries({ agent, trace, protocol, direction, status, text, ...more });
  return new URLSearchParams(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as [string, string]])),
  ).toString();
}
