import { httpExchange } from "../../conformance/http-exchange.js";
import { runConformance } from "../../conformance/run.js";
import type { Subject } from "../../src/protocols/requirement.js";
import { protocols } from "../../src/public/protocols.js";
import { type Exchange, type HttpRequest, type HttpResponse, isStream } from "../../src/transport/exchange.js";

/** Short, because some faults show themselves by nothing happening. */
const TIMEOUT_MS = 3_000;

/** How one requirement comes out against a subject. */
export async function outcomeOf(subject: Pick<Subject, "url"> & Partial<Subject>, id: string): Promise<string | undefined> {
  const whole = { exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID(), ...subject };
  const options = { only: [id], timeoutMs: TIMEOUT_MS };
  const { verdicts } = await runConformance(whole, protocols, options);
  return verdicts.find((verdict) => verdict.id === id)?.outcome;
}

export interface WholeResponse extends HttpResponse {
  readonly body: Buffer;
  readonly trailers: () => { readonly [name: string]: string };
}

/** A good server seen through glass that bends what goes in or what comes out. */
export function bent(
  ask: (request: HttpRequest) => HttpRequest,
  answer: (response: WholeResponse, request: HttpRequest) => HttpResponse = (response) => response,
): Exchange {
  return async (request) => {
    const response = await httpExchange(ask(request));
    if (!isStream(response.body)) return response;
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    const trailers = response.trailers?.() ?? {};
    return answer({ ...response, body: Buffer.concat(chunks), trailers: () => trailers }, request);
  };
}

export const asIs = (request: HttpRequest): HttpRequest => request;
