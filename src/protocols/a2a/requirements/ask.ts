import { AgentError, CancelSource, type Maybe } from "../../../envelope/index.js";
import { type Chunk, isStream, type Request } from "../../../transport/exchange.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { makeRequest } from "../../../transport/request.js";
import type { Subject } from "../../requirement.js";
import { demand } from "./duty.js";

/** One request written by hand, so that the checks test a server and not our own client. */
export interface Ask {
  readonly method: string;
  readonly url: string;
  readonly headers?: Maybe<{ readonly [name: string]: Maybe<string> }>;
  readonly body?: Maybe<string | Uint8Array>;
  /** Leaves out the subject's own headers, credentials included. */
  readonly anonymous?: Maybe<boolean>;
}

/** A whole answer. */
export interface Got {
  readonly status: number;
  readonly headers: { readonly [name: string]: Maybe<string> };
  readonly text: string;
  /** Undefined where the text is not JSON. */
  readonly json: unknown;
}

/** An answer whose body is still coming. */
export interface Opened {
  readonly status: number;
  readonly headers: { readonly [name: string]: Maybe<string> };
  readonly chunks: AsyncIterable<Chunk>;
  close(): void;
}

/** More than any of the checks asks for. */
const ANSWER_BYTES = DEFAULT_LIMITS.bodyBytes;

/** Sends a request and takes the whole answer, within a limit. */
export async function ask(subject: Subject, request: Ask): Promise<Got> {
  return whole(await open(subject, request));
}

/** Sends a request and leaves the body to be read. */
export async function open(subject: Subject, request: Ask): Promise<Opened> {
  const made = write(subject, request);
  const response = await subject.exchange(made);
  const headers = lowerCase(response.headers);
  const { body } = response;
  return {
    status: response.status,
    headers,
    chunks: isStream(body) ? body : once(body),
    close: () => made.cancel.cancel(new AgentError("cancelled", "the check has seen enough")),
  };
}

/** The rest of a body as text. */
export async function whole(opened: Opened): Promise<Got> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of opened.chunks) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    demand(text.length <= ANSWER_BYTES, `the answer is longer than ${ANSWER_BYTES} characters`);
  }
  text += decoder.decode();
  return { status: opened.status, headers: opened.headers, text, json: parse(text) };
}

function write(subject: Subject, { method, url, body, headers: own, anonymous }: Ask): Request {
  const headers: { [name: string]: string } = anonymous ? {} : { ...subject.headers };
  for (const [name, value] of Object.entries(own ?? {})) if (value !== undefined) headers[name] = value;
  return makeRequest({ method, url, headers, body, cancel: new CancelSource() });
}

function lowerCase(headers: Got["headers"]): Got["headers"] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

async function* once(body: Maybe<Chunk>): AsyncGenerator<Chunk> {
  if (body !== undefined) yield body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
