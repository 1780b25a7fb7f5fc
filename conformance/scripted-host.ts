import {
  AgentError,
  type AgentEvent,
  ANSWERS,
  type Call,
  type Card,
  type Envelope,
  type EventKind,
  type Handler,
  isPromise,
  type Loss,
  type Maybe,
  type Operation,
  type Part,
  type Reply,
  startCall,
  type Task,
} from "../src/envelope/index.js";
import { checkAnswers } from "../src/policies/index.js";
import { createClientContext } from "../src/protocols/client-context.js";
import { type Front, front } from "../src/protocols/front.js";
import { createHost } from "../src/protocols/host.js";
import type { DiscoveryContext, IdSource, Peer, Protocol } from "../src/protocols/protocol.js";
import { createIdentity } from "../src/security/identity/index.js";
import { createMemoryStore } from "../src/tasks/index.js";
import type { Intake, Link } from "../src/transport/exchange.js";
import { memoryLink } from "../src/transport/memory.js";

/** All hosts here are the same one to a peer that knows their DID. */
const HOST_IDENTITY = createIdentity({ name: "contract", did: "key" });

/** One interface of a protocol: its client connected to its server in memory. */
export interface TestInterface {
  readonly peer: Peer;
  /** `version binding`, for messages. */
  readonly label: string;
  /** The client. */
  readonly handler: Handler;
  /** Operations that reached the server. */
  readonly received: Operation[];
  /** Losses reported by the client or the server. */
  readonly losses: Loss[];
  /** The number of requests sent, and of messages in sessions. */
  count(): number;
}

export const PUBLIC_URL = "http://contract.example";
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** UUIDs, because some protocols accept no other ids. */
export const TASK_ID = "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a01";
export const SESSION_ID = "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a02";

/** Sequential ids and a fixed clock: two runs give the same bytes. */
export function fixedIds(): IdSource {
  let count = 0;
  return { now: () => NOW, newId: () => `00000000-0000-4000-8000-${String(++count).padStart(12, "0")}` };
}

export const CONTRACT_CARD: Card = {
  name: "contract",
  description: "answers contract checks",
  version: "1.0.0",
  skills: [{ id: "s", name: "S", description: "does what the script says", tags: ["contract"] }],
  inputModes: ["text/plain", "application/json", "application/octet-stream"],
  outputModes: ["text/plain"],
  capabilities: { streaming: true, push: true, extended: true, idempotentSend: true, resume: false, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};

/** The server of a protocol with a scripted handler, behind the same routing as `serve()`. */
export function served(
  protocol: Protocol,
  script: Handler,
  reportLoss: (loss: Loss) => void = () => undefined,
  onFault: (thrown: unknown) => void = () => undefined,
): Front {
  const host = createHost({
    handler: script,
    cards: [CONTRACT_CARD],
    ids: fixedIds(),
    publicUrl: PUBLIC_URL,
    records: createMemoryStore({ now: () => NOW }).records,
    identity: HOST_IDENTITY,
    sessions: true,
    onLoss: reportLoss,
    onFault,
  });
  return front(host, [protocol]);
}

/** Every interface of a protocol, all with the same scripted handler. */
export function openInterfaces(protocol: Protocol, script: Handler): readonly TestInterface[] {
  const received: Operation[] = [];
  const losses: Loss[] = [];
  const server = served(
    protocol,
    (operation, call) => {
      received.push(operation);
      return script(operation, call);
    },
    (loss) => losses.push(loss),
  );
  return server.interfaces(CONTRACT_CARD.name, PUBLIC_URL).map(({ url, version, binding, tenant }) => {
    let count = 0;
    const link = memoryLink(counted(server, () => count++));
    const peer: Peer = { url, card: CONTRACT_CARD, version, binding, tenant };
    // As in `connect()`: the kinds of answers and incomplete streams are checked outside the protocols.
    const handler = checkAnswers()(clientOf(protocol, link, peer));
    const label = `${version} ${binding}`;
    return { peer, label, received, losses, count: () => count, handler };
  });
}

/** Calls back for every request, every session and every message of a session. */
function counted(server: Required<Intake>, count: () => void): Intake {
  return {
    take(request) {
      count();
      return server.take(request);
    },
    async upgrade(head) {
      count();
      const upgraded = await server.upgrade(head);
      if ("status" in upgraded) return upgraded;
      return {
        ...upgraded,
        accept(session) {
          session.tap({ received: count });
          return upgraded.accept(session);
        },
      };
    },
  };
}

/** The client half of a protocol for a peer, over this link. */
export function clientOf(protocol: Protocol, link: Link, peer: Peer): Handler {
  return protocol.connect({ ...contextOf(link), peer }).handler;
}

/** The environment of a client over this link, with fixed ids and no records. */
export function contextOf(link: Link): DiscoveryContext {
  return createClientContext({ link, ids: fixedIds() });
}

/** A call that records its losses. */
export function callWith(losses: Loss[]): Call {
  return startCall({ reportLoss: (loss) => losses.push(loss) });
}

/** The events of a reply and the error it ended with. */
export interface Outcome {
  readonly events: readonly AgentEvent[];
  readonly error: Maybe<AgentError>;
}

/** Reads a reply to its end. Rethrows errors other than AgentError. */
export async function outcomeOf(reply: () => Reply): Promise<Outcome> {
  const events: AgentEvent[] = [];
  try {
    const made = reply();
    if (isPromise(made)) events.push(await made);
    else for await (const event of made) events.push(event);
    return { events, error: undefined };
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    return { events, error: thrown };
  }
}

export function message(content: readonly Part[], role: "user" | "agent", context: Envelope["context"] = {}): Envelope {
  return { id: "m-1", ts: NOW / 1000, src: "caller", dst: "contract", intent: "", role, content, context, meta: {} };
}

export const text = (value: string): Part => ({ kind: "text", text: value });

export function task(state: "submitted" | "working" | "completed"): Task {
  return { id: TASK_ID, contextId: SESSION_ID, status: { state, at: NOW }, artifacts: [], history: [] };
}

/** One event of every kind. */
export const ANSWERS_BY_KIND: { readonly [kind in EventKind]: AgentEvent } = {
  message: { kind: "message", message: message([text("pong")], "agent", { sessionId: SESSION_ID }) },
  task: { kind: "task", task: task("completed") },
  status: { kind: "status", taskId: TASK_ID, contextId: SESSION_ID, status: { state: "completed", at: NOW } },
  artifact: {
    kind: "artifact",
    taskId: TASK_ID,
    contextId: SESSION_ID,
    artifact: { id: "a-1", parts: [text("x")] },
    append: false,
    last: true,
  },
  tasks: { kind: "tasks", tasks: [task("completed")], nextPageToken: "next", pageSize: 1, totalSize: 2 },
  push: { kind: "push", config: { taskId: TASK_ID, id: "p-1", url: "https://hooks.example/1" } },
  pushes: { kind: "pushes", configs: [{ taskId: TASK_ID, id: "p-1", url: "https://hooks.example/1" }], nextPageToken: "" },
  card: { kind: "card", card: CONTRACT_CARD },
  done: { kind: "done" },
};

/** Answers every operation with the first kind of event allowed for it. */
export const answering = async (operation: Operation): Promise<AgentEvent> => ANSWERS_BY_KIND[ANSWERS[operation.kind][0]];

/** One operation of every kind. */
export const OPERATIONS_BY_KIND: { readonly [kind in Operation["kind"]]: Operation } = {
  send: { kind: "send", envelope: message([text("ping")], "user"), delivery: "answer", task: "auto" },
  "task.get": { kind: "task.get", taskId: TASK_ID },
  "task.list": { kind: "task.list", pageSize: 1 },
  "task.cancel": { kind: "task.cancel", taskId: TASK_ID },
  "task.subscribe": { kind: "task.subscribe", taskId: TASK_ID, follow: true },
  "push.set": { kind: "push.set", config: { taskId: TASK_ID, id: "p-1", url: "https://hooks.example/1" } },
  "push.get": { kind: "push.get", taskId: TASK_ID, id: "p-1" },
  "push.list": { kind: "push.list", taskId: TASK_ID },
  "push.delete": { kind: "push.delete", taskId: TASK_ID, id: "p-1" },
  "session.close": { kind: "session.close", sessionId: SESSION_ID },
  card: { kind: "card", extended: false },
  ping: { kind: "ping" },
};
