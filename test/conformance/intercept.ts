import { expect } from "vitest";
import { httpExchange } from "../../conformance/http-exchange.js";
import { runConformance } from "../../conformance/run.js";
import type { Subject } from "../../src/protocols/requirement.js";
import { protocols } from "../../src/public/protocols.js";
import { type Exchange, type HttpRequest, type HttpResponse, isStream } from "../../src/transport/exchange.js";

/** Short, because some faults show only as a timeout. A server without a fault has the default limit, for a busy machine. */
const FAULT_TIMEOUT_MS = 3_000;

type SubjectParts = Pick<Subject, "url"> & Partial<Subject>;

/** The outcome of each requirement against a subject, as `id outcome`. */
async function outcomesOf(subject: SubjectParts, ids: readonly string[], timeoutMs?: number): Promise<readonly string[]> {
  const whole = { exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID(), ...subject };
  const { verdicts } = await runConformance(whole, protocols, { only: ids, timeoutMs });
  const outcomes = new Map(verdicts.map(({ id, outcome }) => [id, outcome]));
  return ids.map((id) => `${id} ${outcomes.get(id)}`);
}

/** The requirement is met by the conforming server, and not by the same server with the fault. */
export async function expectCaught(good: SubjectParts, fault: Partial<Subject>, ids: readonly string[]): Promise<void> {
  expect(await outcomesOf(good, ids)).toEqual(ids.map((id) => `${id} met`));
  expect(await outcomesOf({ ...good, ...fault }, ids, FAULT_TIMEOUT_MS)).toEqual(ids.map((id) => `${id} unmet`));
}

export interface WholeResponse extends HttpResponse {
  readonly body: Buffer;
  readonly trailers: () => { readonly [name: string]: string };
}

/** Sends over HTTP what `request` makes of a request, and returns what `response` makes of the response. */
export function intercept(
  request: (request: HttpRequest) => HttpRequest,
  response: (response: WholeResponse, request: HttpRequest) => HttpResponse = (received) => received,
): Exchange {
  return async (sent) => {
    const received = await httpExchange(request(sent));
    if (!isStream(received.body)) return received;
    const chunks: Uint8Array[] = [];
    for await (const chunk of received.body) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    const trailers = received.trailers?.() ?? {};
    return response({ ...received, body: Buffer.concat(chunks), trailers: () => trailers }, sent);
  };
}

export const unchanged = (request: HttpRequest): HttpRequest => request;

/** Changes the body of a response, or any member of it. */
export type ChangeResponse = (text: string, response: WholeResponse, request: HttpRequest) => string | Partial<HttpResponse>;

/** As `intercept`, for responses of text. */
export function interceptText(change: ChangeResponse, request = unchanged): Exchange {
  return intercept(request, (response, sent) => {
    const changed = change(response.body.toString("utf8"), response, sent);
    return typeof changed === "string" ? { ...response, body: changed } : { ...response, ...changed };
  });
}

/** The body of a request as text. */
export const bodyOf = ({ body }: HttpRequest): string => new TextDecoder().decode(body);
