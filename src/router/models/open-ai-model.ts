import { AgentError, type Cancel, CancelSource, type ErrorCode, type Maybe } from "../../envelope/index.js";
import { wholeBody } from "../../transport/body.js";
import type { HttpResponse, Link } from "../../transport/exchange.js";
import { blame } from "../../transport/fields.js";
import { readJson } from "../../transport/json.js";
import { DEFAULT_LIMITS, type Limits } from "../../transport/limits.js";
import { makeRequest } from "../../transport/request.js";
import { readRetryAfter } from "../../transport/retry-after.js";
import { type AnyRequest, readComplaint, readCompletion, writeCompletion } from "./chat-completion.js";
import type { FunctionCallingModel, ModelAnswer } from "./language-model.js";

/** Options of `openAiModel`. */
export interface OpenAiModelOptions {
  /** The base URL with the version: `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** The name of the model on the server. */
  readonly model: string;
  /** The environment variable with the key, read for each call. Without it and `token` no key is sent. */
  readonly apiKeyEnv?: Maybe<string>;
  /** The API key. Default: that of `apiKeyEnv`. */
  readonly token?: Maybe<string>;
  /** The time limit of one request, including its response. Default: 60 s. */
  readonly timeoutMs?: Maybe<number>;
  /** How freely the server draws its answer, from 0 to 2. Default: 0. */
  readonly temperature?: Maybe<number>;
  /** The seed by which a server that knows seeds draws. Default: none is sent. */
  readonly seed?: Maybe<number>;
  /** The transport. Default: pooled connections, opened on first use. */
  readonly link?: Maybe<Link>;
}

/** A language model on a server with the OpenAI chat completions API. */
export interface OpenAiModel extends FunctionCallingModel {
  /** Waits for active calls, then closes the connections; a given `link` stays open. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 60_000;
const MAX_TEMPERATURE = 2;
const ANSWER_BYTES = 4 * 1024 * 1024;
/** The limit of server text in error messages. */
const COMPLAINT_CHARACTERS = 300;
const LIMITS: Limits = { ...DEFAULT_LIMITS, bodyBytes: ANSWER_BYTES };

/**
 * Sends one request per question: no retries, no redirects, bounded time and size. The key is sent in one header and never
 * appears in an error.
 */
export function openAiModel(options: OpenAiModelOptions): OpenAiModel {
  const { model, timeoutMs = TIMEOUT_MS } = options;
  const url = completionsUrl(options.baseUrl);
  const { host } = new URL(url);
  if (model === "") throw invalid("model", "the model has no name");
  const { temperature = 0, seed = 0 } = options;
  if (!(temperature >= 0 && temperature <= MAX_TEMPERATURE)) throw invalid("temperature", `is not from 0 to ${MAX_TEMPERATURE}`);
  if (!Number.isSafeInteger(seed)) throw invalid("seed", "is not a whole number");
  if (options.token !== undefined) checkKey(options.token, "token");
  let own: Maybe<Promise<Link>>;

  async function linkOf(): Promise<Link> {
    if (options.link !== undefined) return options.link;
    own ??= openLink();
    return own;
  }

  async function answer(request: AnyRequest, cancel: Cancel): Promise<ModelAnswer> {
    if (cancel.reason !== undefined) throw cancel.reason;
    const key = keyOf(options);
    const body = JSON.stringify(writeCompletion(model, request, options));
    const link = await linkOf();
    const within = new CancelSource();
    const unlink = cancel.onCancel((reason) => within.cancel(reason));
    const late = new AgentError("deadline", `the model at ${host} did not answer within ${timeoutMs} ms`, { sent: "maybe" });
    const timer = setTimeout(() => within.cancel(late), timeoutMs);
    try {
      const response = await link.exchange(makeRequest({ method: "POST", url, headers: headersFor(key), body, cancel: within }));
      return await readAnswer(response, { host, key });
    } finally {
      clearTimeout(timer);
      unlink();
    }
  }

  return {
    async complete(request, cancel) {
      const { text } = await answer(request, cancel);
      if (text === "") throw new AgentError("bad_peer", `the model at ${host} answered without words`);
      return text;
    },
    choose: answer,
    async close() {
      await (await own)?.close();
    },
  };
}

/** Loaded on first use: a given `link` needs no Node transport. */
async function openLink(): Promise<Link> {
  const { poolLink } = await import("../../transport/node/index.js");
  return poolLink({ limits: LIMITS });
}

function completionsUrl(baseUrl: string): string {
  const parsed = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (parsed?.protocol !== "http:" && parsed?.protocol !== "https:") throw invalid("baseUrl", "is not an http or https address");
  if (parsed.username !== "" || parsed.password !== "") throw invalid("baseUrl", "contains credentials; pass them as token");
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, "")}/chat/completions${parsed.search}`;
}

function invalid(field: string, problem: string): AgentError {
  return new AgentError("invalid_message", `${field}: ${problem}`, { field, sent: "no" });
}

function keyOf({ apiKeyEnv, token }: OpenAiModelOptions): Maybe<string> {
  if (token !== undefined || apiKeyEnv === undefined) return token;
  const key = process.env[apiKeyEnv];
  if (key === undefined || key === "")
    throw new AgentError(
      "unauthenticated",
      `the key of the model is expected in the environment variable ${apiKeyEnv}, which is not set`,
      {
        sent: "no",
      },
    );
  return checkKey(key, apiKeyEnv);
}

/** Names the source of the key, never its value. */
function checkKey(key: string, field: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw invalid(field, "is empty or has characters a header cannot carry");
}

function headersFor(key: Maybe<string>): Record<string, string> {
  const headers = { accept: "application/json", "content-type": "application/json" };
  return key === undefined ? headers : { ...headers, authorization: `Bearer ${key}` };
}

interface Asked {
  readonly host: string;
  readonly key: Maybe<string>;
}

async function readAnswer(response: HttpResponse, asked: Asked): Promise<ModelAnswer> {
  if (response.status !== 200) throw await refusalOf(response, asked);
  try {
    return readCompletion(await documentOf(response));
  } catch (thrown) {
    const error = blame(thrown, "bad_peer");
    if (error.code !== "bad_peer" && error.code !== "decode" && error.code !== "too_large") throw error;
    throw new AgentError("bad_peer", `the answer of the model at ${asked.host} cannot be read: ${error.message}`, {
      sent: "maybe",
    });
  }
}

async function documentOf(response: HttpResponse): Promise<unknown> {
  return readJson(await wholeBody(response.body, ANSWER_BYTES), DEFAULT_LIMITS);
}

/** The error for a rejected request. The server text is included, except for authentication errors. */
async function refusalOf(response: HttpResponse, asked: Asked): Promise<AgentError> {
  const { status } = response;
  const code = codeOf(status);
  const complaint = status === 401 || status === 403 ? undefined : await complaintOf(response, asked.key);
  const retryAfterMs = readRetryAfter(response.headers);
  return new AgentError(
    code,
    `the model at ${asked.host} answers HTTP ${status}${complaint === undefined ? "" : `: ${complaint}`}`,
    {
      status,
      sent: "maybe",
      ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
    },
  );
}

const BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [400, "invalid_message"],
  [401, "unauthenticated"],
  [403, "forbidden"],
  [404, "not_found"],
  [408, "unavailable"],
  [413, "too_large"],
  [422, "invalid_message"],
  [429, "overloaded"],
]);

function codeOf(status: number): ErrorCode {
  return BY_STATUS.get(status) ?? (status >= 500 ? "unavailable" : "bad_peer");
}

async function complaintOf(response: HttpResponse, key: Maybe<string>): Promise<Maybe<string>> {
  let complaint: Maybe<string>;
  try {
    complaint = readComplaint(await documentOf(response));
  } catch {
    // Not JSON: the status is enough.
  }
  return (key === undefined ? complaint : complaint?.replaceAll(key, "(the key)"))?.slice(0, COMPLAINT_CHARACTERS);
}
