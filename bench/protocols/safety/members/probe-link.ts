import { AgentError } from "../../../../src/index.js";
import type { HttpHeaders, HttpRequest, HttpResponse, Link } from "../../../../src/public/protocols.js";
import { errorsOf, type Injection, type RawAnswer, type SentRequest } from "./tasks.js";

/** Answers are single messages. */
const ANSWER_BYTES = 4 * 1024 * 1024;
/** What evidence shows of an answer. */
const SHOWN_CHARS = 16_384;

/**
 * The layer in the live send path: below the protocol and its signatures, above the connection. It records what is sent, and changes it as
 * the probe says. It opens no sessions, so that every message is a request.
 */
export class ProbeLink implements Link {
  readonly #below: Link;
  #injection: Injection = {};
  #sent: { request: SentRequest; answers: RawAnswer[] }[] = [];

  constructor(below: Link) {
    this.#below = below;
  }

  /** Begins a new message. */
  begin(injection: Injection): void {
    this.#injection = injection;
    this.#sent = [];
  }

  /** What was sent since then. */
  get sent(): readonly SentRequest[] {
    return this.#sent.map(({ request, answers }) => ({ ...request, answers }));
  }

  readonly exchange = async (request: HttpRequest): Promise<HttpResponse> => {
    const { signer } = request;
    const signed = finalOf(request, { ...request.headers, ...(await signer?.sign(request)) });
    const final = this.#injected(signed);
    const answers: RawAnswer[] = [];
    this.#sent.push({ request: sentRequest(final), answers });
    if (this.#injection.withhold === true) throw new AgentError("unavailable", "withheld by the probe", { sent: "no" });
    const response = await this.#send(final, answers);
    if (this.#injection.duplicate === true) await this.#send(final, answers).catch(() => undefined);
    return signer?.verify === undefined ? response : signer.verify(response, signed);
  };

  close(): Promise<void> {
    return this.#below.close();
  }

  async #send(request: HttpRequest, answers: RawAnswer[]): Promise<HttpResponse> {
    try {
      const response = await this.#below.exchange(request);
      const body = await wholeBody(response.body);
      answers.push({ status: response.status, headers: definedHeaders(response.headers), body: shown(body) });
      const { status, headers, jsonLimits } = response;
      return { status, headers, body, jsonLimits, ...(response.trailers && { trailers: () => response.trailers?.() ?? {} }) };
    } catch (thrown) {
      answers.push({ errors: errorsOf(thrown) });
      throw thrown;
    }
  }

  #injected(request: HttpRequest): HttpRequest {
    const { tamper } = this.#injection;
    if (tamper === "body") return finalOf(request, request.headers, { body: tampered(request.body) });
    if (tamper === "query") return finalOf(request, request.headers, { target: withParameter(request.target) });
    return request;
  }
}

/** A request that is not signed again. */
function finalOf(request: HttpRequest, headers: HttpHeaders, change: { body?: Uint8Array; target?: string } = {}): HttpRequest {
  const { method, connection, cancel, call, admitted } = request;
  const { target = request.target, body = request.body } = change;
  const [, path = "/", query = ""] = /^[a-z]+:\/\/[^/?#]*([^?#]*)\??([^#]*)/i.exec(target) ?? [];
  return {
    ...{ method, path, query, target, headers, connection, cancel, call, admitted, body },
    rawHeaders: Object.entries(definedHeaders(headers)).flat(),
    json: () => JSON.parse(Buffer.from(body).toString("utf8")),
    signer: undefined,
  };
}

const DIGIT = /\d/;

/**
 * One character replaced by another of its kind, in the middle of the longest run of letters and digits: the text of a message, or what it was
 * sealed to. The length stays, and JSON stays JSON.
 */
export function tampered(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString("latin1");
  const runs = [...text.matchAll(/[A-Za-z0-9+/_-]+/g)].map(({ 0: { length }, index }) => ({ length, index }));
  const { index, length } = runs.reduce((best, each) => (each.length > best.length ? each : best), { length: 0, index: 0 });
  const at = index + Math.floor(length / 2);
  const old = text[at] ?? "";
  const other = DIGIT.test(old) ? (old === "7" ? "3" : "7") : old === "q" ? "k" : "q";
  return Buffer.from(text.slice(0, at) + other + text.slice(at + 1), "latin1");
}

function withParameter(target: string): string {
  return `${target}${target.includes("?") ? "&" : "?"}probe=1`;
}

function sentRequest({ method, target, headers, body }: HttpRequest): SentRequest {
  return { method, url: target, headers: definedHeaders(headers), body: Uint8Array.from(body), answers: [] };
}

function definedHeaders(headers: HttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

async function wholeBody(body: HttpResponse["body"]): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  if (typeof body === "string" || body instanceof Uint8Array) return Buffer.from(body);
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > ANSWER_BYTES) throw new Error(`the answer is longer than ${ANSWER_BYTES} bytes`);
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

function shown(body: Buffer): string {
  return body.toString("utf8").slice(0, SHOWN_CHARS);
}
