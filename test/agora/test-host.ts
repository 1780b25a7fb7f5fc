import { AgentError, ANONYMOUS, type JsonObject, type Loss, type Principal } from "../../src/envelope/index.js";
import { type AgoraOptions, createAgora } from "../../src/protocols/agora/index.js";
import { front } from "../../src/protocols/front.js";
import { createHost, type FrontHost } from "../../src/protocols/host.js";
import type { Host } from "../../src/protocols/index.js";
import type { LanguageModel } from "../../src/router/models/index.js";
import type { Agent } from "../../src/server/index.js";
import type { Store } from "../../src/tasks/index.js";
import type { Exchange } from "../../src/transport/exchange.js";
import { makeRequest } from "../../src/transport/request.js";
import { type ManualTimers, manualTimers, principal, TestRuntime } from "../helpers/tasks.js";

export interface TestHostOptions {
  readonly settings?: JsonObject;
  readonly agora?: AgoraOptions;
  readonly model?: LanguageModel;
  readonly follow?: Host["follow"];
  readonly store?: Store;
  readonly timers?: ManualTimers;
  /** Distinguishes the ids of two hosts over one store. */
  readonly prefix?: string;
}

/** A response. */
export interface Answered {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly text: string;
  /** The body as an object. */
  readonly json: JsonObject;
}

/** The server with real agents and tasks, without a socket, on a stopped clock. */
export class TestHost {
  readonly runtime: TestRuntime;
  readonly timers: ManualTimers;
  readonly losses: Loss[] = [];
  readonly #exchange: Exchange;

  constructor(agents: readonly Agent[], options: TestHostOptions = {}) {
    const { timers = manualTimers(), store, prefix = "id" } = options;
    this.timers = timers;
    const handles = Object.fromEntries(agents.map(({ name, handle }) => [name, handle]));
    this.runtime = new TestRuntime(handles, { timers, prefix, ...(store === undefined ? {} : { store }) });
    let count = 0;
    const made = createHost({
      handler: this.runtime.runtime.handler,
      cards: agents.map(({ card }) => card),
      ids: { now: timers.now, newId: () => `${prefix}-host-${++count}` },
      admission: ({ headers }) => callerIn(headers["x-caller"]),
      publicUrl: "http://desk.example",
      settings: { agora: options.settings ?? {} },
      records: this.runtime.store.records,
      follow: options.follow,
      model: options.model,
    });
    const host: FrontHost = {
      ...made,
      begin: (request, start) => made.begin(request, start).derive({ reportLoss: (loss) => this.losses.push(loss) }),
    };
    this.#exchange = front(host, [createAgora(options.agora)]).exchange;
  }

  post(path: string, body: unknown, headers: { readonly [name: string]: string } = {}): Promise<Answered> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.ask("POST", path, { "content-type": "application/json", ...headers }, text);
  }

  get(path: string, headers: { readonly [name: string]: string } = {}): Promise<Answered> {
    return this.ask("GET", path, headers);
  }

  delete(path: string, headers: { readonly [name: string]: string } = {}): Promise<Answered> {
    return this.ask("DELETE", path, headers);
  }

  async ask(method: string, path: string, headers: { readonly [name: string]: string } = {}, body = ""): Promise<Answered> {
    const request = makeRequest({
      method,
      url: `http://desk.example${path}`,
      headers: { host: "desk.example", ...headers },
      body,
    });
    const response = await this.#exchange(request);
    const text = String(response.body ?? "");
    return { status: response.status, headers: response.headers, text, json: text.startsWith("{") ? JSON.parse(text) : {} };
  }
}

function callerIn(name: string | undefined): Principal {
  if (name === undefined) return ANONYMOUS;
  if (name !== "nobody") return principal(name);
  throw new AgentError("unauthenticated", "who is it?", { head: { "www-authenticate": "Bearer" } });
}

/** A natural-language request of the library's sender. */
export function words(body: string, more: JsonObject = {}): JsonObject {
  return { protocolHash: null, protocolSources: [], body, ...more };
}

/** A promise and its resolver, for an agent that works until it is resolved. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}
