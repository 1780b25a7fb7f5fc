import { type AgentFunction, agent, type JsonObject, type Mounted, type MountOptions, mount } from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";
import type { Protocol } from "../../src/public/protocols.js";
import { sseEvents } from "../../src/transport/sse.js";

/** A gate that a test opens. */
export class Gate {
  readonly opened: Promise<void>;
  open: () => void = () => undefined;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

/** An agent that runs the command of its message, and the gate at which `wait` and `halfway` wait. */
export function commanded(gate: Gate): AgentFunction {
  return async function* obey(message, task) {
    const [command, ...words] = message.text.split(" ");
    switch (command) {
      case "tokens":
        for (const word of words) yield word;
        return;
      case "halfway":
        yield task.working("half done", { percent: 50 });
        await gate.opened;
        return "all done";
      case "wait":
        await Promise.race([gate.opened, new Promise((resolve) => task.signal.addEventListener("abort", resolve))]);
        return "waited";
      case "named":
        yield task.artifact("a,b", { name: "table.csv" });
        return;
      case "ask":
        return task.turn === 1 ? task.ask("which city?") : undefined;
      case "authorize":
        return task.askForAuthorization("log in first");
      case "fail":
        throw new Error("the inner reason");
      case "reject":
        return task.reject("not my job");
      case "data":
        return { celsius: 21 };
      default:
        return task.turn > 1 ? `weather for ${message.text}` : `you said: ${message.text}`;
    }
  };
}

const ORIGIN = "http://acp.example";

/** A bench with two agents, `worker` and `Other.Agent`, called without a socket. */
export class Bench {
  readonly gate = new Gate();
  readonly #mounted: Mounted;

  constructor(protocol: Protocol, options: MountOptions = {}) {
    const worker = agent({
      name: "worker",
      description: "does what it is told",
      handle: commanded(this.gate),
      skills: [{ id: "obey", name: "Obey", description: "obeys", tags: ["test"] }],
    });
    const other = agent({ name: "Other.Agent", description: "another", handle: async () => "from the other" });
    this.#mounted = mount([worker, other], { protocols: [protocol], publicUrl: ORIGIN, ...options });
  }

  close(): Promise<void> {
    this.gate.open();
    return this.#mounted.close();
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.#mounted.fetch(new Request(`${ORIGIN}${path}`, init));
  }

  /** A body as official clients send it: JSON without a content type. */
  async post(path: string, body: unknown, headers: { readonly [name: string]: string } = {}): Promise<Answer> {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    return answerOf(await this.fetch(path, { method: "POST", headers: { ...headers }, body: bytes }));
  }

  async get(path: string, headers: { readonly [name: string]: string } = {}): Promise<Answer> {
    return answerOf(await this.fetch(path, { headers: { ...headers } }));
  }

  /** A `POST` that is answered with events; returns all of them. */
  async postStream(path: string, body: unknown, headers: { readonly [name: string]: string } = {}): Promise<readonly Tree[]> {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    return readAll(await this.fetch(path, { method: "POST", headers: { ...headers }, body: bytes }));
  }
}

/** The benches of one test file. */
export class Benches {
  readonly #open: Bench[] = [];
  readonly #protocol: Protocol;

  constructor(protocol: Protocol) {
    this.#protocol = protocol;
  }

  readonly open = (options: MountOptions = {}): Bench => {
    const bench = new Bench(this.#protocol, options);
    this.#open.push(bench);
    return bench;
  };

  readonly close = async (): Promise<void> => {
    await Promise.all(this.#open.splice(0).map((bench) => bench.close()));
  };
}

/** Reads the run until it has ended. */
export async function ended(on: Bench, runId: unknown, headers: { readonly [name: string]: string } = {}): Promise<Tree> {
  for (;;) {
    const { body } = await on.get(`/runs/${runId}`, headers);
    if (body.finished_at !== null) return body;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export type Tree = { [name: string]: unknown };
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a server response, read by assertions only
  readonly body: any;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

const EVENT_BYTES = 1_000_000;

/** The events of a response, as they arrive. */
export async function* eventsIn(response: Response): AsyncGenerator<{ readonly id: string | undefined; readonly data: Tree }> {
  if (response.body === null) throw new Error("no body");
  // A web stream of bytes is iterable in Node; its type does not declare it.
  const chunks = response.body as unknown as AsyncIterable<Uint8Array>;
  for await (const { data, id } of sseEvents(chunks, EVENT_BYTES)) yield { id, data: JSON.parse(data) };
}

async function readAll(response: Response): Promise<readonly Tree[]> {
  const events: Tree[] = [];
  for await (const { data } of eventsIn(response)) events.push(data);
  return events;
}

export const ALICE = "alice-token-0123456789";
export const BOB = "bob-token-0123456789";
export const guarded: MountOptions = {
  admission: bearerTokens(
    new Map([
      ["alice", ALICE],
      ["bob", BOB],
    ]),
  ),
};
export const as = (token: string): { readonly authorization: string } => ({ authorization: `Bearer ${token}` });

/** A run request with one message of text. */
export function runOf(text: string, more: JsonObject = {}): JsonObject {
  return { agent_name: "worker", input: [{ role: "user", parts: [{ content_type: "text/plain", content: text }] }], ...more };
}
