import {
  AgentError,
  type AgentEvent,
  ANSWERS,
  answerText,
  type Context,
  type Handler,
  type Loss,
  type Operation,
  startCall,
  textOf,
} from "../src/envelope/index.js";
import type { DeclaredLoss, Protocol } from "../src/protocols/protocol.js";
import { canonicalJson } from "../src/security/json-canonical.js";
import { linkRequirements } from "./contract-link.js";
import { type ContractRequirement, contract, demand } from "./contract-requirement.js";
import { sessionRequirements } from "./contract-session.js";
import {
  answering,
  callWith,
  message,
  OPERATIONS_BY_KIND,
  openInterfaces,
  outcomeOf,
  SESSION_ID,
  TASK_ID,
  type TestInterface,
  task,
  text,
} from "./scripted-host.js";

/** One value for every member a context can have. */
const CONTEXT: Required<{ readonly [name in keyof Context]: Context[name] }> = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  parentId: "m-0",
  idempotencyKey: "key-1",
  sessionId: SESSION_ID,
  taskId: TASK_ID,
  priority: 5,
  ttlMs: 60_000,
  stream: false,
  artifactRefs: ["https://files.example/1"],
  tags: ["one", "two"],
  minVersion: "0.1",
  maxVersion: "9.0",
};

async function* events(...all: readonly AgentEvent[]): AsyncGenerator<AgentEvent> {
  yield* all;
}

const STREAMED: readonly AgentEvent[] = [
  { kind: "task", task: task("submitted") },
  { kind: "status", taskId: TASK_ID, contextId: SESSION_ID, status: { state: "working", at: 0 } },
  {
    kind: "artifact",
    taskId: TASK_ID,
    contextId: SESSION_ID,
    artifact: { id: "a-1", parts: [text("one ")] },
    append: false,
    last: false,
  },
  {
    kind: "artifact",
    taskId: TASK_ID,
    contextId: SESSION_ID,
    artifact: { id: "a-1", parts: [text("two")] },
    append: true,
    last: true,
  },
  { kind: "status", taskId: TASK_ID, contextId: SESSION_ID, status: { state: "completed", at: 0 } },
];
const STREAMING_SEND: Operation = { kind: "send", envelope: message([text("ping")], "user"), delivery: "stream", task: "always" };

/** The interfaces of a protocol that streams; none for a protocol without streams. */
function streaming(protocol: Protocol, script: Handler): readonly TestInterface[] {
  return protocol.traits.streaming ? openInterfaces(protocol, script) : [];
}

/** The requirements for every registered protocol. */
export const contractRequirements: readonly ContractRequirement[] = [
  contract("ways-in", "A served protocol names at least one address it answers at.", async (protocol) => {
    demand(openInterfaces(protocol, answering).length > 0, "no interface");
  }),
  ...(Object.keys(OPERATIONS_BY_KIND) as Operation["kind"][]).map(
    (
      kind, // the keys of that very table
    ) =>
      contract(`operation:${kind}`, `A ${kind} is answered in kind, or refused as unsupported.`, async (protocol) => {
        for (const { handler, label } of openInterfaces(protocol, answering)) {
          const { events: got, error } = await outcomeOf(() => handler(OPERATIONS_BY_KIND[kind], startCall()));
          const refused = error !== undefined && /unsupported|card_not_configured/.test(error.code);
          demand(error === undefined || refused, `${label}: ${error?.code} ${error?.message}`);
          const kinds: readonly string[] = ANSWERS[kind];
          demand(
            refused || (got.length > 0 && got.every((event) => kinds.includes(event.kind))),
            `${label}: answered ${JSON.stringify(got)}`,
          );
        }
      }),
  ),
  contract(
    "send:arrives",
    "The text of a message arrives at the other side, and the text of the answer comes back.",
    async (protocol) => {
      for (const { handler, received, label } of openInterfaces(protocol, answering)) {
        const sent = 'soirée 🎉 "quoted" \\ 中文\n';
        const operation: Operation = { kind: "send", envelope: message([text(sent)], "user"), delivery: "answer", task: "auto" };
        const { events: got, error } = await outcomeOf(() => handler(operation, startCall()));
        demand(error === undefined, `${label}: ${error?.message}`);
        const last = received.at(-1);
        demand(last?.kind === "send" && firstText(last.envelope.content) === sent, `${label}: received ${JSON.stringify(last)}`);
        // A protocol in which every answer is a task reports the error as a failed task.
        const [answer] = got;
        const words =
          answer?.kind === "message" ? textOf(answer.message.content) : answer?.kind === "task" && answerText(answer.task);
        demand(words === "pong", `${label}: got ${JSON.stringify(got)}`);
      }
    },
  ),
  contract("context:carried", "Every context member a protocol says it carries arrives unchanged.", async (protocol) => {
    for (const { handler, received, label } of openInterfaces(protocol, answering)) {
      const carried = Object.fromEntries(protocol.traits.carries.map((name) => [name, CONTEXT[name]]));
      const envelope = message([text("ping")], "user", carried);
      const { error } = await outcomeOf(() => handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall()));
      demand(error === undefined, `${label}: ${error?.message}`);
      const last = received.at(-1);
      demand(last?.kind === "send", `${label}: nothing was received`);
      for (const name of protocol.traits.carries) {
        const [sent, got] = [JSON.stringify(CONTEXT[name]), JSON.stringify(last.envelope.context[name])];
        demand(sent === got, `${label}: ${name} was ${sent} and arrived as ${got}`);
      }
    }
  }),
  contract("loss:declared", "Every loss is reported when it happens, and was declared before.", async (protocol) => {
    for (const { handler, losses, peer, label } of openInterfaces(protocol, answering)) {
      const lost: Loss[] = [];
      const content = [
        { ...text("named"), name: "a.txt", mediaType: "text/markdown", metadata: { a: 1 } },
        { kind: "data", data: { n: 1 }, name: "d.json", mediaType: "application/json" },
        { kind: "url", url: "https://files.example/x", name: "x", mediaType: "image/png" },
        ...(protocol.traits.binary ? [{ kind: "raw", bytes: new Uint8Array([0, 255]), name: "b" } as const] : []),
      ] as const;
      const operation: Operation = { kind: "send", envelope: message(content, "user"), delivery: "answer", task: "auto" };
      await outcomeOf(() => handler(operation, callWith(lost)));
      for (const loss of [...lost, ...losses.splice(0)]) {
        demand(loss.protocol === protocol.id, `${label}: a loss at ${loss.path} is blamed on ${loss.protocol}`);
        demand(
          protocol.losses.some((declared) => covers(declared, loss, peer.version)),
          `${label}: ${loss.path} was lost and not declared`,
        );
      }
    }
  }),
  contract("parts:kept", "Parts of every kind arrive with their content, or their loss is reported.", async (protocol) => {
    for (const { handler, received, label } of openInterfaces(protocol, answering)) {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const content = [
        text("x"),
        { kind: "data", data: { n: 1.5, deep: [null, true] } },
        { kind: "url", url: "https://files.example/x" },
        ...(protocol.traits.binary ? [{ kind: "raw", bytes } as const] : []),
      ] as const;
      const lost: Loss[] = [];
      await outcomeOf(() =>
        handler({ kind: "send", envelope: message(content, "user"), delivery: "answer", task: "auto" }, callWith(lost)),
      );
      const last = received.at(-1);
      const kinds = last?.kind === "send" ? last.envelope.content.map(contentOf) : [];
      const kept = content.filter((_part, index) => !lost.some(({ path }) => path === `message.parts[${index}]`));
      demand(kinds.join() === kept.map(contentOf).join(), `${label}: arrived as ${kinds.join()}`);
    }
  }),
  contract("stream:order", "The events of a stream arrive all, in order, and the stream ends.", async (protocol) => {
    for (const { handler, label } of streaming(protocol, () => events(...STREAMED))) {
      const { events: got, error } = await outcomeOf(() => handler(STREAMING_SEND, startCall()));
      demand(error === undefined, `${label}: ${error?.code} ${error?.message}`);
      demand(got.map(wordOf).join() === STREAMED.map(wordOf).join(), `${label}: ${got.map(wordOf).join()}`);
    }
  }),
  contract("stream:error-first", "An error before the first event is that error at the caller.", async (protocol) => {
    const script: Handler = async () => Promise.reject(new AgentError("task_not_found", "no such task"));
    for (const { handler, label } of streaming(protocol, script)) {
      const { events: got, error } = await outcomeOf(() => handler(STREAMING_SEND, startCall()));
      demand(got.length === 0 && error?.code === "task_not_found", `${label}: ${got.length} events, then ${error?.code}`);
    }
  }),
  contract(
    "stream:error-later",
    "An error after the first event ends the stream with an error, never as finished.",
    async (protocol) => {
      async function* failing(): AsyncGenerator<AgentEvent> {
        yield* STREAMED.slice(0, 2);
        throw new AgentError("overloaded", "too much");
      }
      for (const { handler, label } of streaming(protocol, failing)) {
        const { events: got, error } = await outcomeOf(() => handler(STREAMING_SEND, startCall()));
        demand(got.length === 2 && error !== undefined, `${label}: ${got.length} events, then ${error?.code ?? "a good end"}`);
      }
    },
  ),
  contract("stream:cut", "A stream that ends without a closing event is interrupted.", async (protocol) => {
    for (const { handler, label } of streaming(protocol, () => events(...STREAMED.slice(0, 3)))) {
      const { error } = await outcomeOf(() => handler(STREAMING_SEND, startCall()));
      demand(error?.code === "interrupted", `${label}: it ended with ${error?.code ?? "a good end"}`);
    }
  }),
  ...(["task_not_found", "not_cancelable", "invalid_message", "unsupported", "unauthenticated", "internal"] as const).map(
    (code) =>
      contract(`error:${code}`, `The error ${code} is the same error at the caller.`, async (protocol) => {
        const script: Handler = async () => Promise.reject(new AgentError(code, "scripted"));
        for (const { handler, label } of openInterfaces(protocol, script)) {
          const { error } = await outcomeOf(() => handler(OPERATIONS_BY_KIND.send, startCall()));
          demand(error?.code === code, `${label}: ${code} arrived as ${error?.code}`);
        }
      }),
  ),
  contract("error:secret", "What an agent throws that is no AgentError does not reach the caller in words.", async (protocol) => {
    const script: Handler = async () => Promise.reject(new Error("inner secret"));
    for (const { handler, label } of openInterfaces(protocol, script)) {
      const { error } = await outcomeOf(() => handler(OPERATIONS_BY_KIND.send, startCall()));
      demand(error !== undefined && !error.message.includes("inner secret"), `${label}: ${error?.message}`);
    }
  }),
  ...linkRequirements,
  ...sessionRequirements,
];

/** A declared path covers everything below it; `[]` matches any index. */
function covers(declared: DeclaredLoss, loss: Loss, version: string): boolean {
  const plain = (path: string): string => path.replaceAll(/\[\d*\]/g, "[]").replace(/^message\.content/, "message.parts");
  return declared.version === version && plain(loss.path).startsWith(plain(declared.path));
}

function firstText(parts: readonly { readonly kind: string; readonly text?: string }[]): string | undefined {
  return parts[0]?.text;
}

/** The order of members means nothing. */
function contentOf(part: {
  readonly kind: string;
  readonly text?: string;
  readonly data?: unknown;
  readonly url?: string;
  readonly bytes?: Uint8Array;
}): string {
  return `${part.kind} ${part.text ?? part.url ?? (part.bytes === undefined ? canonicalJson(part.data) : [...part.bytes].join("."))}`;
}

/** The members that must be equal on both sides. */
function wordOf(event: AgentEvent): string {
  if (event.kind === "task") return `task ${event.task.id} ${event.task.status.state}`;
  if (event.kind === "status") return `status ${event.taskId} ${event.status.state}`;
  if (event.kind === "artifact")
    return `artifact ${event.artifact.id} ${event.append} ${event.last} ${firstText(event.artifact.parts)}`;
  return event.kind;
}
