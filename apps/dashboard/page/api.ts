import type { Interface, JsonObject } from "../../../src/index.js";
import type { CapturedMessage, CapturedMessageSummary } from "../../../src/public/inspect.js";
import type { TaskLine } from "../console.js";

const TOKEN_KEY = "koine-token";
/** One answer that is no stream must be there within this time. */
const ANSWER_MS = 15_000;

export interface Session {
  readonly holdsToken: boolean;
  readonly maySend: boolean;
  readonly mayAct: boolean;
}

/** The token of the start-up line comes in the fragment, which never travels; it is kept for this tab and leaves the address bar. */
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

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`api/${path}`, { ...init, headers: { ...tokenHeader(), ...init.headers } });
  if (!response.ok) throw new Error(await complaint(response));
  return response;
}

async function complaint(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { readonly error?: { readonly message?: string } }; // our own error form
    return body.error?.message ?? `the gateway answered ${response.status}`;
  } catch {
    return `the gateway answered ${response.status}`;
  }
}

async function get<T>(path: string): Promise<T> {
  const response = await ask(path, { signal: AbortSignal.timeout(ANSWER_MS) });
  return (await response.json()) as T; // the gateway's own routes, written beside this page
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
  async act(node: string, action: "kill" | "restart"): Promise<void> {
    await ask(`nodes/${part(node)}/${action}`, { method: "POST", signal: AbortSignal.timeout(ANSWER_MS) });
  },
  /** The lines of an answer as they come. */
  async *send(message: JsonObject, signal: AbortSignal): AsyncGenerator<JsonObject, void, void> {
    const response = await ask("send", {
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
    for (const line of lines) if (line.trim() !== "") yield JSON.parse(line) as JsonObject; // one line of our own route
  }
}
