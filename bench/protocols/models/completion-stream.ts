import { AgentError } from "../../../src/index.js";

/** A streamed chat completion: what is asked, and the limits of the answer. */
export interface CompletionRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly timeoutMs: number;
}

/** Bytes of one answer with its events, and of one line of it. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_LINE = 1024 * 1024;
const TOO_MANY = 429;
const SERVER_ERROR = 500;
const DONE = "[DONE]";

/** The pieces of an answer as the server sends them. Throws AgentError; never retries. A stream that ends without saying so was cut. */
export async function* streamCompletion(request: CompletionRequest, signal: AbortSignal): AsyncGenerator<string> {
  const late = AbortSignal.timeout(request.timeoutMs);
  try {
    const response = await fetch(request.url, {
      method: "POST",
      headers: request.headers,
      body: JSON.stringify(request.body),
      signal: AbortSignal.any([signal, late]),
      redirect: "error",
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      throw refusal(response.status);
    }
    for await (const event of eventsOf(response.body)) {
      if (event === DONE) return;
      const piece = pieceOf(event);
      if (piece !== "") yield piece;
    }
    throw new AgentError("unavailable", "the answer of the model was cut off", { sent: "maybe" });
  } catch (thrown) {
    if (thrown instanceof AgentError || signal.aborted) throw thrown;
    if (late.aborted)
      throw new AgentError("deadline", `the model did not answer within ${request.timeoutMs} ms`, { sent: "maybe" });
    throw new AgentError("unavailable", `the answer of the model was cut off: ${reasonOf(thrown)}`, { sent: "maybe" });
  }
}

function refusal(status: number): AgentError {
  const code = status === TOO_MANY ? "overloaded" : status >= SERVER_ERROR ? "unavailable" : "bad_peer";
  return new AgentError(code, `the model answers HTTP ${status}`, { status, sent: "maybe" });
}

/** The data of each event. */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let [bytes, text] = [0, ""];
  for await (const chunk of body) {
    bytes += chunk.length;
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split(/\r?\n/);
    text = lines.pop() ?? "";
    if (bytes > MOST_BYTES || text.length > MOST_LINE) throw new AgentError("bad_peer", "the answer of the model is too long");
    for (const line of lines) if (line.startsWith("data:")) yield line.slice("data:".length).trim();
  }
}

/** The text that one event adds; empty for those that carry none, such as the role at the start. */
function pieceOf(event: string): string {
  let document: { readonly choices?: readonly { readonly delta?: { readonly content?: unknown } }[] };
  try {
    document = JSON.parse(event) as typeof document; // members are looked at one by one
  } catch {
    throw new AgentError("bad_peer", "an event of the model is not JSON");
  }
  const content = document?.choices?.[0]?.delta?.content;
  return typeof content === "string" ? content : "";
}

function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
  return cause instanceof Error ? cause.message : String(cause);
}
