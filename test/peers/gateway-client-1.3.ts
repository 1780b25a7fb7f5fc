import { type Message, type Part, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { GrpcTransportFactory } from "@a2a-js/sdk/client/grpc";
import { collect } from "./against-official.js";
import { type Checks, emulatedIn, type OfficialClient, orRefusal, until, walkAll } from "./gateway-walk.js";

/** The client of @a2a-js/sdk 1.3.0, pinned to one binding of 1.0. */
export function client13(binding: "JSONRPC" | "HTTP+JSON" | "GRPC"): OfficialClient {
  return {
    name: `A2A JS 1.3.0 ${binding}`,
    walk: (agents) => walkAll(agents, async (url) => checksOf(await clientFor(url, binding))),
  };
}

async function clientFor(url: string, binding: string): Promise<Client> {
  const cardResolver = new DefaultAgentCardResolver();
  const card = await cardResolver.resolve(url);
  const only = card.supportedInterfaces.filter((each) => each.protocolBinding === binding && each.protocolVersion === "1.0");
  if (only.length !== 1) throw new Error(`the card has ${only.length} interfaces for ${binding}`);
  const transports = [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()];
  return new ClientFactory({ transports, cardResolver }).createFromAgentCard({ ...card, supportedInterfaces: only });
}

function checksOf(client: Client): Checks {
  const say = (text: string, more: Partial<Message> = {}) => client.sendMessage(request(text, more));
  const get = (id: string) => client.getTask({ tenant: "", id, historyLength: undefined });
  const cancel = (id: string) => client.cancelTask({ tenant: "", id, metadata: undefined });
  return {
    ask: async () => answerOf(await say("hello")),
    async task() {
      const begun = await client.sendMessage({ ...request("conform: task"), configuration: AT_ONCE });
      if ("messageId" in begun) return answerOf(begun);
      return answerOf(
        await until(
          () => get(begun.id),
          ({ status }) => !UNDER_WAY.has(stateOf(status)),
        ),
      );
    },
    stream: async () =>
      (await collect(client.sendMessageStream(request("conform: stream 3")))).map(pieceOf).filter(Boolean).join("|"),
    async input() {
      const asked = await say("conform: ask");
      const taskId = "messageId" in asked ? "" : asked.id;
      const answered = await say("42", { taskId, contextId: asked.contextId });
      const same = "messageId" in answered || answered.id === taskId;
      return `${answerOf(asked)} → ${same ? "" : "another task "}${answerOf(answered)}`;
    },
    async cancel() {
      const events = client.sendMessageStream(request("conform: wait"));
      const { id } = taskIn((await events.next()).value?.payload?.value);
      const rest = collect(events);
      const { status } = await cancel(id);
      const last = (await rest).map(pieceOf).at(-1);
      return `${stateOf(status)}, on the stream ${last}, afterwards ${stateOf((await get(id)).status)}`;
    },
    error: () => orRefusal(say("conform: fail").then(answerOf)),
    unknown: () => orRefusal(get("nobody-knows-it").then(answerOf)),
  };
}

const AT_ONCE = {
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  historyLength: undefined,
  returnImmediately: true,
};
const UNDER_WAY: ReadonlySet<string> = new Set(["submitted", "working"]);

function request(value: string, more: Partial<Message> = {}) {
  const part: Part = { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "" };
  const message: Message = {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}

function textIn(parts: readonly Part[] = []): string {
  return parts.map(({ content }) => (content?.$case === "text" ? content.value : `<${content?.$case}>`)).join("");
}

/** A message by its text, a task by its state and its text. */
function answerOf(answer: Message | Task): string {
  if ("messageId" in answer) return textIn(answer.parts);
  const words = [...answer.artifacts.map(({ parts }) => textIn(parts)), textIn(answer.status?.message?.parts)];
  return `${stateOf(answer.status)}: ${words.filter(Boolean).join("|")}`;
}

function stateOf(status: Task["status"]): string {
  const name = TaskState[status?.state ?? TaskState.UNRECOGNIZED] ?? "";
  return name.replace("TASK_STATE_", "").toLowerCase().replace("_", "-");
}

function taskIn(value: unknown): Task {
  if (typeof value === "object" && value !== null && "artifacts" in value) return value as Task; // only tasks have them
  throw new Error(`the stream does not begin with a task, but with ${JSON.stringify(value)}`);
}

/** The text of an artifact or a message; of a task only its final state. */
function pieceOf({ payload }: StreamResponse): string {
  switch (payload?.$case) {
    case "message":
      return textIn(payload.value.parts);
    case "artifactUpdate":
      return textIn(payload.value.artifact?.parts);
    case "task":
    case "statusUpdate":
      return UNDER_WAY.has(stateOf(payload.value.status)) ? emulatedIn(payload.value.metadata) : stateOf(payload.value.status);
    default:
      return "nothing";
  }
}
