import type { Interface, JsonObject } from "../../../src/index.js";
import type { CapturedMessage, CapturedMessageSummary } from "../../../src/public/inspect.js";
import type { NodeAction, TaskLine } from "../console.js";

const TOKEN_KEY = "koine-token";
/** Timeout of requests that are not streamed. */
const ANSWER_MS = 15_000;

export interface Session {
  readonly holdsToken: boolean;
  readonly maySend: boolean;
  readonly mayAct: boolean;
}

/** Moves the token from the URL fragment, which is never sent, to the session storage of this tab. */
export function takeToken(): void {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found === null) return;
  sessionStorage.setItem(TOKEN_KEY, found);
  history.replaceState(null, "", location.pathname + location.search);
}

function tokenHeader(): { readonly [name: string]: string } {
  const token = sessionStorage.getItem(TOKEN_KEY);
  return token === null ? {} : { "x-koine-token": token };
}

async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`api/${path}`, { ...init, headers: { ...tokenHeader(), ...init.headers } });
  if (!response.ok) throw new Error(await errorMessage(response));
  return response;
}

async function errorMessage(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { readonly error?: { readonly message?: string } }; // the error format of the gateway's routes
    return body.error?.message ?? `the gateway responded with ${response.status}`;
  } catch {
    return `the gateway responded with ${response.status}`;
  }
}

async function get<T>(path: string): Promise<T> {
  const response = await request(path, { signal: AbortSignal.timeout(ANSWER_MS) });
  return (await response.json()) as T; // the gateway's own routes
}

const part = encodeURIComponent;

export const api = {
  session: () => get<Session>("session"),
  messages: (limit: number, before?: number) =>
    get<{ readonly messages: readonly CapturedMessageSummary[]; readonly forgotten: number }>(
      `messages?limit=${limit}${before === undefined ? "" : `&before=${before}`}`,
    ),
  message: (id: string) => get<CapturedMessage>(`messages/${part(id)}`),
  trace: (traceId: string) => get<readonly CapturedMessage[]>(`traces/${part(traceId)}`),
  tasks: () => get<{ readonly tasks: readonly TaskLine[] }>("tasks"),
  taskEvents: (id: string) => get<{ readonly events: readonly JsonObject[] }>(`tasks/${part(id)}`),
  ways: (node: string) => get<{ readonly ways: readonly Interface[] }>(`nodes/${part(node)}/ways`),
  /** A feed of server-sent events, after the event with this id. */
  feed: (path: string, after: string, signal: AbortSignal) =>
    fetch(`api/${path}`, { headers: { ...tokenHeader(), ...(after === "" ? {} : { "last-event-id": after }) }, signal }),
  /** Resolves with what happened; empty if there is nothing more to say than that it was done. */
  async act(node: string, action: NodeAction): Promise<string> {
    const response = await request(`nodes/${part(node)}/${action}`, { method: "POST", signal: AbortSignal.timeout(ANSWER_MS) });
    if (response.status === 204) return "";
    return ((await response.json()) as { readonly says: string }).says; // the gateway's own route
  },
  /** Yields the lines of the response as they arrive. */
  async *send(message: JsonObject, signal: AbortSignal): AsyncGenerator<JsonObject, void, void> {
    const response = await request("send", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
      signal,
    });
    if (response.body !== null) yield* jsonLines(response.body);
  },
};

async function* jsonLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<JsonObject, void, void> {
  let rest = "";
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    const lines = (rest + step.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line) as JsonObject; // a line of our own route
  }
}
