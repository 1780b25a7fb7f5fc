import type { Message, MessageSendParams, Part, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "a2a-js-sdk-03";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "a2a-js-sdk-03/client";
import { collect } from "./against-official.js";
import { type Checks, emulatedIn, type OfficialClient, orRefusal, until, walkAll } from "./gateway-walk.js";

type StreamEvent = Message | Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

/** The client of @a2a-js/sdk 0.3.14, pinned to one binding. */
export function client03(binding: "JSONRPC" | "HTTP+JSON"): OfficialClient {
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory()],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver(),
  });
  return {
    name: `A2A JS 0.3.14 ${binding}`,
    walk: (agents) => walkAll(agents, async (url) => checksOf(await factory.createFromUrl(url))),
  };
}

function checksOf(client: Client): Checks {
  const say = (said: string, more: Partial<Message> = {}) => client.sendMessage(params(said, more));
  return {
    ask: async () => answerOf(await say("hello")),
    async task() {
      const begun = await client.sendMessage({ ...params("conform: task"), configuration: { blocking: false } });
      if (begun.kind === "message") return answerOf(begun);
      const look = () => client.getTask({ id: begun.id });
      return answerOf(await until(look, ({ status }) => !UNDER_WAY.has(status.state)));
    },
    stream: async () =>
      (await collect(client.sendMessageStream(params("conform: stream 3")))).map(pieceOf).filter(Boolean).join("|"),
    async input() {
      const asked = await say("conform: ask");
      const named = asked.kind === "task" ? { taskId: asked.id } : {};
      const answered = await say("42", { ...named, ...(asked.contextId === undefined ? {} : { contextId: asked.contextId }) });
      const same = answered.kind === "message" || answered.id === named.taskId;
      return `${answerOf(asked)} → ${same ? "" : "another task "}${answerOf(answered)}`;
    },
    async cancel() {
      const events = client.sendMessageStream(params("conform: wait"));
      const begun = (await events.next()).value;
      if (begun?.kind !== "task") throw new Error(`the stream does not begin with a task, but with ${begun?.kind}`);
      const rest = collect(events);
      const { status } = await client.cancelTask({ id: begun.id });
      const last = (await rest).map(pieceOf).at(-1);
      return `${status.state}, on the stream ${last}, afterwards ${(await client.getTask({ id: begun.id })).status.state}`;
    },
    error: () => orRefusal(say("conform: fail").then(answerOf)),
    unknown: () => orRefusal(client.getTask({ id: "nobody-knows-it" }).then(answerOf)),
  };
}

const UNDER_WAY: ReadonlySet<string> = new Set(["submitted", "working"]);

function params(text: string, more: Partial<Message> = {}): MessageSendParams {
  const parts: Part[] = [{ kind: "text", text }];
  return { message: { kind: "message", messageId: crypto.randomUUID(), role: "user", parts, ...more } };
}

function textIn(parts: readonly Part[] = []): string {
  return parts.map((part) => (part.kind === "text" ? part.text : `<${part.kind}>`)).join("");
}

/** A message by its text, a task by its state and its text. */
function answerOf(answer: Message | Task): string {
  if (answer.kind === "message") return textIn(answer.parts);
  const { artifacts = [], status } = answer;
  const words = [...artifacts.map(({ parts }) => textIn(parts)), textIn(status.message?.parts)];
  return `${status.state}: ${words.filter(Boolean).join("|")}`;
}

/** The text of an artifact or a message; of a task only its final state. */
function pieceOf(event: StreamEvent): string {
  switch (event.kind) {
    case "message":
      return textIn(event.parts);
    case "artifact-update":
      return textIn(event.artifact.parts);
    default:
      return UNDER_WAY.has(event.status.state) ? emulatedIn(event.metadata) : event.status.state;
  }
}
