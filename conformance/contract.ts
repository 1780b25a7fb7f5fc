import {
  AgentError,
  ANSWERS,
  type Context,
  type Event,
  type Handler,
  type Loss,
  type Operation,
  startCall,
} from "../src/envelope/index.js";
import type { DeclaredLoss, Protocol } from "../src/protocols/protocol.js";
import type { Exchange, Response } from "../src/transport/exchange.js";
import { memoryLink } from "../src/transport/memory.js";
import { makeRequest } from "../src/transport/request.js";
import {
  ANSWERS_BY_KIND,
  callWith,
  fixedIds,
  message,
  OPERATIONS_BY_KIND,
  outcomeOf,
  type Plugged,
  PUBLIC_URL,
  plugAll,
  served,
  task,
  text,
} from "./scripted-host.js";

/** A duty of every protocol, whatever its wire: data plus a function, for any test runner. `check` throws when it is not met. */
export interface ContractRequirement {
  readonly id: string;
  readonly behaviour: string;
  check(protocol: Protocol): Promise<void>;
}

/** One value for every member a context can have. */
const CONTEXT: Required<{ readonly [name in keyof Context]: Context[name] }> = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  parentId: "m-0",
  idempotencyKey: "key-1",
  sessionId: "c-1",
  taskId: "t-1",
  priority: 5,
  ttlMs: 60_000,
  stream: false,
  artifactRefs: ["https://files.example/1"],
  tags: ["one", "two"],
  minVersion: "0.1",
  maxVersion: "9.0",
};

/** Answers every operation with the first kind that may answer it. */
const answering: Handler = async (operation) => {
  if (operation.kind === "send") return ANSWERS_BY_KIND.message;
  return ANSWERS_BY_KIND[ANSWERS[operation.kind][0]];
};

function demand(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Error(seen);
}

async function* events(...all: readonly Event[]): AsyncGenerator<Event> {
  yield* all;
}

const STREAMED: readonly Event[] = [
  { kind: "task", task: task("submitted") },
  { kind: "status", taskId: "t-1", contextId: "c-1", status: { state: "working", at: 0 } },
  {
    kind: "artifact",
    taskId: "t-1",
    contextId: "c-1",
    artifact: { id: "a-1", parts: [text("one ")] },
    append: false,
    last: false,
  },
  { kind: "artifact", taskId: "t-1", contextId: "c-1", artifact: { id: "a-1", parts: [text("two")] }, append: true, last: true },
  { kind: "status", taskId: "t-1", contextId: "c-1", status: { state: "completed", at: 0 } },
];
const STREAMING_SEND: Operation = { kind: "send", envelope: message([text("ping")], "user"), delivery: "stream", task: "always" };

/** Every way in of a protocol that streams; none of one that does not. */
function streaming(protocol: Protocol, script: Handler): readonly Plugged[] {
  return protocol.traits.streaming ? plugAll(protocol, script) : [];
}

const contract = (id: string, behaviour: string, check: ContractRequirement["check"]): ContractRequirement => ({
  id: `contract:${id}`,
  behaviour,
  check,
});

/** What is demanded of every registered protocol. */
export const contractRequirements: readonly ContractRequirement[] = [
  contract("ways-in", "A served protocol names at least one address it answers at.", async (protocol) => {
    demand(plugAll(protocol, answering).length > 0, "no interface");
  }),
  ...(Object.keys(OPERATIONS_BY_KIND) as Operation["kind"][]).map(
    (
      kind, // the keys of that very table
    ) =>
      contract(`operation:${kind}`, `A ${kind} is answered in kind, or refused as unsupported.`, async (protocol) => {
        for (const { handler, label } of plugAll(protocol, answering)) {
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
      for (const { handler, heard, label } of plugAll(protocol, answering)) {
        const said = 'soirée 🎉 "quoted" \\ 中文\n';
        const operation: Operation = { kind: "send", envelope: message([text(said)], "user"), delivery: "answer", task: "auto" };
        const { events: got, error } = await outcomeOf(() => handler(operation, startCall()));
        demand(error === undefined, `${label}: ${error?.message}`);
        const last = heard.at(-1);
        demand(last?.kind === "send" && firstText(last.envelope.content) === said, `${label}: heard ${JSON.stringify(last)}`);
        demand(
          got[0]?.kind === "message" && firstText(got[0].message.content) === "pong",
          `${label}: got ${JSON.stringify(got)}`,
        );
      }
    },
  ),
  contract("context:carried", "Every context member a protocol says it carries arrives unchanged.", async (protocol) => {
    for (const { handler, heard, label } of plugAll(protocol, answering)) {
      const carried = Object.fromEntries(protocol.traits.carries.map((name) => [name, CONTEXT[name]]));
      const envelope = message([text("ping")], "user", carried);
      const { error } = await outcomeOf(() => handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall()));
      demand(error === undefined, `${label}: ${error?.message}`);
      const last = heard.at(-1);
      demand(last?.kind === "send", `${label}: nothing was heard`);
      for (const name of protocol.traits.carries) {
        const [sent, got] = [JSON.stringify(CONTEXT[name]), JSON.stringify(last.envelope.context[name])];
        demand(sent === got, `${label}: ${name} was ${sent} and arrived as ${got}`);
      }
    }
  }),
  contract("loss:declared", "Whatever is lost on the way is said when it happens, and was declared before.", async (protocol) => {
    for (const { handler, losses, peer, label } of plugAll(protocol, answering)) {
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
  contract("parts:kept", "Parts of every kind the protocol can carry arrive with their content.", async (protocol) => {
    for (const { handler, heard, label } of plugAll(protocol, answering)) {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const content = [
        text("x"),
        { kind: "data", data: { n: 1.5, deep: [null, true] } },
        { kind: "url", url: "https://files.example/x" },
        ...(protocol.traits.binary ? [{ kind: "raw", bytes } as const] : []),
      ] as const;
      await outcomeOf(() =>
        handler({ kind: "send", envelope: message(content, "user"), delivery: "answer", task: "auto" }, startCall()),
      );
      const last = heard.at(-1);
      const kinds = last?.kind === "send" ? last.envelope.content.map(contentOf) : [];
      demand(kinds.join() === content.map(contentOf).join(), `${label}: arrived as ${kinds.join()}`);
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
      async function* failing(): AsyncGenerator<Event> {
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
        for (const { handler, label } of plugAll(protocol, script)) {
          const { error } = await outcomeOf(() => handler(OPERATIONS_BY_KIND.send, startCall()));
          demand(error?.code === code, `${label}: ${code} arrived as ${error?.code}`);
        }
      }),
  ),
  contract("error:secret", "What an agent throws that is no AgentError does not reach the caller in words.", async (protocol) => {
    const script: Handler = async () => Promise.reject(new Error("inner secret"));
    for (const { handler, label } of plugAll(protocol, script)) {
      const { error } = await outcomeOf(() => handler(OPERATIONS_BY_KIND.send, startCall()));
      demand(error !== undefined && !error.message.includes("inner secret"), `${label}: ${error?.message}`);
    }
  }),
  contract("ping:round-trip", "A ping goes over the link, and fails when the link does.", async (protocol) => {
    for (const { handler, count, peer, label } of plugAll(protocol, answering)) {
      const { error } = await outcomeOf(() => handler(OPERATIONS_BY_KIND.ping, startCall()));
      demand(error === undefined && count() > 0, `${label}: ${error?.message ?? "nothing was sent"}`);
      const dead = protocol.connect(memoryLink(unreachable), peer, fixedIds());
      const { error: failed } = await outcomeOf(() => dead(OPERATIONS_BY_KIND.ping, startCall()));
      demand(failed !== undefined, `${label}: a ping of nothing succeeded`);
    }
  }),
  contract("retry:never", "One operation is one request, whatever the answer.", async (protocol) => {
    for (const { peer, label } of plugAll(protocol, answering))
      for (const [what, answer] of Object.entries(FAILING))
        for (const kind of ["send", "task.get"] as const) {
          let count = 0;
          const link = { exchange: (): Response => (count++, answer()), close: async () => undefined };
          const { error } = await outcomeOf(() =>
            protocol.connect(link, peer, fixedIds())(OPERATIONS_BY_KIND[kind], startCall()),
          );
          demand(error !== undefined, `${label}: ${kind} succeeded with ${what}`);
          demand(count <= 1, `${label}: ${kind} with ${what} sent ${count} requests`);
        }
  }),
  contract(
    "discover:found",
    "Discovery finds the protocol where it is served, proves it, and says how it knows.",
    async (protocol) => {
      const finding = await protocol.discover(memoryLink(served(protocol, answering)), PUBLIC_URL, startCall());
      demand(finding !== undefined, "nothing was found");
      demand(finding.peers.length > 0 && finding.evidence.length > 0, "no peers or no evidence");
      demand(finding.proved, `not proved: ${finding.evidence.join("; ")}`);
    },
  ),
  ...Object.entries(foreignAnswers()).map(([what, answer]) =>
    contract(`discover:${what}`, "Discovery says no, and does not throw, where something else answers.", async (protocol) => {
      const finding = await protocol.discover(
        memoryLink(() => answer),
        PUBLIC_URL,
        startCall(),
      );
      demand(finding === undefined || !finding.proved, `found ${JSON.stringify(finding?.evidence)}`);
    }),
  ),
  contract(
    "hostile:server",
    "No body crashes a server half: every one is answered, and none as a fault of the server.",
    async (protocol) => {
      const exchange = served(protocol, answering);
      for (const { method, path } of protocol.routes)
        for (const body of HOSTILE) {
          const url = PUBLIC_URL + path.replace("/*", "/x");
          const request = makeRequest({
            method: method === "*" ? "POST" : method,
            url,
            headers: { "content-type": "application/json" },
            body,
          });
          const { status } = await exchange(request);
          demand(status < 500, `${method} ${path} answers ${status} to ${JSON.stringify(body.slice(0, 40))}`);
        }
    },
  ),
  contract("hostile:client", "No body deceives a client half: every one is an AgentError, none a success.", async (protocol) => {
    for (const { peer, label } of plugAll(protocol, answering))
      for (const body of HOSTILE)
        for (const kind of ["send", "task.get", "task.list"] as const) {
          const link = memoryLink(() => ({ status: 200, headers: { "content-type": "application/json" }, body }));
          const { events: got, error } = await outcomeOf(() =>
            protocol.connect(link, peer, fixedIds())(OPERATIONS_BY_KIND[kind], startCall()),
          );
          demand(error !== undefined, `${label}: ${kind} took ${JSON.stringify(body.slice(0, 40))} for ${JSON.stringify(got)}`);
        }
  }),
];

const unreachable: Exchange = () => {
  throw new AgentError("unavailable", "nobody listens", { sent: "no" });
};

const FAILING: { readonly [what: string]: () => Response } = {
  "503": () => ({ status: 503, headers: { "retry-after": "0", "content-type": "application/json" }, body: "{}" }),
  "500": () => ({ status: 500, headers: {}, body: "" }),
  "a reset": () => {
    throw new AgentError("unavailable", "connection reset", { sent: "maybe" });
  },
  "a refused connection": () => unreachable(makeRequest({ method: "GET", url: PUBLIC_URL })) as Response, // it throws
};

const HOSTILE: readonly string[] = [
  "",
  "null",
  "[]",
  "1",
  '"text"',
  "{",
  "<html></html>",
  '{"__proto__":{"result":1}}',
  '{"jsonrpc":"2.0","id":"x"}',
  '{"result":null,"error":null}',
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
  '{"constructor":{"prototype":{}}}',
];

function foreignAnswers(): { readonly [what: string]: Response } {
  const json = { "content-type": "application/json" };
  return {
    "not-found": { status: 404, headers: {}, body: "no" },
    "web-page": { status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>hello</title>" },
    "other-json": { status: 200, headers: json, body: '{"hello":"world"}' },
    "other-rpc": {
      status: 200,
      headers: json,
      body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}',
    },
    broken: { status: 200, headers: json, body: "{" },
    failing: { status: 500, headers: {}, body: "" },
  };
}

/** A declared path covers what lies below it; `[]` stands for any index. */
function covers(declared: DeclaredLoss, loss: Loss, version: string): boolean {
  const plain = (path: string): string => path.replaceAll(/\[\d*\]/g, "[]").replace(/^message\.content/, "message.parts");
  return declared.version === version && plain(loss.path).startsWith(plain(declared.path));
}

function firstText(parts: readonly { readonly kind: string; readonly text?: string }[]): string | undefined {
  return parts[0]?.text;
}

function contentOf(part: {
  readonly kind: string;
  readonly text?: string;
  readonly data?: unknown;
  readonly url?: string;
  readonly bytes?: Uint8Array;
}): string {
  return `${part.kind} ${part.text ?? part.url ?? (part.bytes === undefined ? JSON.stringify(part.data) : [...part.bytes].join("."))}`;
}

/** What must be the same on both sides of a wire. */
function wordOf(event: Event): string {
  if (event.kind === "task") return `task ${event.task.id} ${event.task.status.state}`;
  if (event.kind === "status") return `status ${event.taskId} ${event.status.state}`;
  if (event.kind === "artifact")
    return `artifact ${event.artifact.id} ${event.append} ${event.last} ${firstText(event.artifact.parts)}`;
  return event.kind;
}
