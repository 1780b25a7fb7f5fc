import type { Console, NetworkEvent, NetworkState, NodeAction, NodeState, PageMessage } from "../../apps/dashboard/index.js";
import { AgentError, type Json } from "../../src/index.js";
import type { CaptureLog } from "../../src/public/inspect.js";
import type { Decision } from "../../src/router/index.js";

export const STARTED_AT = Date.UTC(2026, 0, 5, 9, 0, 0);

const node = (part: Partial<NodeState> & { readonly id: string }): NodeState => ({
  title: part.id,
  kind: "agent",
  speaks: [],
  url: `http://127.0.0.1:70${part.id.length}/`,
  health: "up",
  note: "",
  actions: ["kill", "restart"],
  ...part,
});

export const NODES: readonly NodeState[] = [
  node({ id: "gateway", kind: "gateway", speaks: ["a2a@1.0/JSONRPC", "acp@0.2/REST"], actions: [], note: "translates" }),
  node({ id: "traveller", kind: "caller", speaks: ["a2a@1.0/JSONRPC"], actions: [], note: "asks for trips" }),
  node({ id: "planner", speaks: ["a2a@0.3/JSONRPC"], pid: 4101, restarts: 0, note: "makes a plan of many steps" }),
  node({ id: "translator", speaks: ["a2a@1.0/GRPC", "a2a@1.0/JSONRPC", "a2a@1.0/REST"], pid: 4102, restarts: 2 }),
  node({ id: "booking", speaks: ["acp@0.2/REST"], pid: 4103, restarts: 1, note: "books rooms" }),
  node({ id: "weather", speaks: ["agora@0.1/HTTP"], health: "starting", pid: 4104, restarts: 3, note: "comes back up" }),
  node({
    id: "archive",
    speaks: ["acp@0.2/REST"],
    health: "down",
    note: "the process ended with code 137 and was not restarted",
  }),
  node({
    id: "notary",
    kind: "missing",
    speaks: ["anp@1.1"],
    health: "unknown",
    note: "no registered protocol speaks ANP yet",
    actions: [],
  }),
];

const wave = (length: number, height: number, phase: number): readonly number[] =>
  Array.from({ length }, (_, index) => Math.round(height * (1.4 + Math.sin(index / 3 + phase) + ((index * 7) % 5) / 9)));

const link = (from: string, to: string, protocols: readonly [string, string], seed: number): NetworkState["links"][number] => ({
  from,
  to,
  fromProtocol: protocols[0],
  toProtocol: protocols[1],
  bridged: protocols[0] !== protocols[1],
  features: [
    { name: "streaming", on: true, by: "message/stream as server-sent events" },
    { name: "long-job", on: seed % 2 === 0, by: "tasks/get" },
    { name: "identity", on: false, by: "" },
  ],
  messages: 40 * seed,
  failures: seed === 5 ? 190 : seed,
  latencies: wave(40, 6 * seed, seed),
});

export const DECISIONS: readonly Decision[] = [
  {
    scenario_id: "trip",
    module_id: "planner",
    selected_protocol: "A2A",
    evidence_spans: ["a long-running task with intermediate status updates", "artifacts are streamed as they are made"],
    rationale: "Task lifecycle and streaming updates are asked for by name; A2A has both as its own primitives.",
    margin: 0.46,
    abstained: false,
    rejected: [
      { protocol: "ACP", because: "has runs, but no incremental artifacts" },
      { protocol: "Agora", because: "has no tasks" },
    ],
  },
  {
    scenario_id: "trip",
    module_id: "booking",
    selected_protocol: "ACP",
    evidence_spans: ["plain REST calls from existing services"],
    rationale: "The module asks for REST and sessions.",
    margin: 0.18,
    abstained: false,
    rejected: [{ protocol: "A2A", because: "what it offers beyond REST is not asked for" }],
  },
  {
    scenario_id: "trip",
    module_id: "archive",
    selected_protocol: null,
    evidence_spans: [],
    rationale: "",
    margin: 0,
    abstained: true,
    rejected: [],
  },
];

export function firstState(): NetworkState {
  return {
    title: "Trip network",
    startedAt: STARTED_AT,
    nodes: NODES,
    links: [
      link("traveller", "planner", ["a2a@1.0", "a2a@0.3"], 2),
      link("planner", "translator", ["a2a@0.3", "a2a@1.0"], 3),
      link("planner", "booking", ["a2a@0.3", "acp@0.2"], 4),
      link("planner", "archive", ["a2a@0.3", "acp@0.2"], 5),
      link("booking", "weather", ["acp@0.2", "agora@0.1"], 6),
      link("traveller", "gateway", ["a2a@1.0", "a2a@1.0"], 1),
    ],
    breakers: [
      { destination: "archive", state: "open", since: STARTED_AT + 60_000, because: "5 failures in a row" },
      { destination: "weather", state: "half-open", since: STARTED_AT + 90_000, because: "one probe is under way" },
      { destination: "booking", state: "closed", since: STARTED_AT, because: "" },
    ],
    queues: [
      { name: "planner", depth: 3, limit: 64, history: wave(30, 4, 0) },
      { name: "booking", depth: 58, limit: 64, history: wave(30, 20, 2) },
    ],
    decisions: DECISIONS,
    happenings: [
      { at: STARTED_AT + 1_000, kind: "started", subject: "planner", says: "answers on A2A 0.3" },
      { at: STARTED_AT + 61_000, kind: "breaker open", subject: "archive", says: "5 failures in a row", traceId: "trace-1" },
      { at: STARTED_AT + 62_000, kind: "hedge", subject: "translator", says: "the second try was faster by 40 ms" },
    ],
    counters: { ROUTER_DECISIONS: 128, HEDGE_FIRES: 7, RETRIES: 23, STREAMS_OPEN: 12, RESUMED: 4, MESSAGES_LOST: 0 },
  };
}

/** A console whose state a test changes, and which records the actions of the page. */
export class FakeConsole implements Console {
  readonly sent: PageMessage[] = [];
  readonly acts: string[] = [];
  readonly #listeners = new Set<() => void>();
  #state = firstState();
  /** Set by a test to continue an answer. */
  answer: (message: PageMessage, signal: AbortSignal) => AsyncIterable<Json> = greeting;

  // The page never requests messages from the console, but from separate routes.
  get messages(): CaptureLog {
    throw new AgentError("internal", "the page must not reach for this");
  }

  state(): NetworkState {
    return this.#state;
  }

  change(part: Partial<NetworkState>): void {
    this.#state = { ...this.#state, ...part };
    for (const run of this.#listeners) run();
  }

  setNode(id: string, part: Partial<NodeState>): void {
    this.change({ nodes: this.#state.nodes.map((each) => (each.id === id ? { ...each, ...part } : each)) });
  }

  happened(event: NetworkEvent): void {
    this.change({ happenings: [...this.#state.happenings, event] });
  }

  onChange(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  tasks: Console["tasks"] = async () => [
    { id: "task-1", agent: "planner", state: "working", at: STARTED_AT + 5_000, text: "plan a trip to Athens" },
    { id: "task-2", agent: "booking", state: "completed", at: STARTED_AT + 3_000, text: "book two rooms" },
    { id: "task-3", agent: "archive", state: "failed", at: STARTED_AT + 2_000, text: "keep the plan" },
    { id: "task-4", agent: "planner", state: "input-required", at: STARTED_AT + 1_000, text: "which hotel?" },
  ];

  taskEvents: Console["taskEvents"] = async (id) => [
    { kind: "status", state: "submitted", at: STARTED_AT + 1_000, task: id },
    {
      kind: "status",
      state: "working",
      at: STARTED_AT + 2_000,
      status: { message: { parts: [{ text: "looking at flights" }] } },
    },
    { kind: "artifact", at: STARTED_AT + 3_000, artifact: { parts: [{ text: "Day one: the Acropolis" }] } },
  ];

  interfaces(id: string): ReturnType<Console["interfaces"]> {
    const way = (protocol: string, version: string, binding: string) => ({
      protocol,
      version,
      binding,
      url: `http://127.0.0.1/${id}`,
    });
    return [way("a2a", "1.0", "GRPC"), way("a2a", "0.3", "JSONRPC"), way("acp", "0.2", "REST")];
  }

  send(message: PageMessage, signal: AbortSignal): AsyncIterable<Json> {
    this.sent.push(message);
    return this.answer(message, signal);
  }

  async act(id: string, action: NodeAction): Promise<string | undefined> {
    this.acts.push(`${action} ${id}`);
    if (action === "flip") return "request refused (digest.mismatch)";
    const at = STARTED_AT + 100_000 + this.acts.length;
    this.setNode(id, action === "kill" ? { health: "down", note: "killed from the page" } : { health: "up", note: "restarted" });
    this.happened({ at, kind: action === "kill" ? "killed" : "restarted", subject: id, says: "asked for on the page" });
    return undefined;
  }
}

async function* greeting(message: PageMessage): AsyncGenerator<Json, void, void> {
  yield { kind: "status", state: "working", traceId: "trace-1" };
  yield { kind: "message", text: `You said: ${message.text}`, traceId: "trace-1" };
}
