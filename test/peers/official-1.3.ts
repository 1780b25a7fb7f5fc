import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard, type Message, type Part, Role, type Task, TaskState } from "@a2a-js/sdk";
import { legacyRestRouter } from "@a2a-js/sdk/compat/v0_3/server/express";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express, { type RequestHandler } from "express";
import { type OfficialServer, readCommand } from "./official.js";

const ENDS: { readonly [word: string]: TaskState } = {
  ask: TaskState.TASK_STATE_INPUT_REQUIRED,
  fail: TaskState.TASK_STATE_FAILED,
  reject: TaskState.TASK_STATE_REJECTED,
};
const ECHO: { readonly [word: string]: string } = { ask: "what is the answer?", fail: "as commanded", reject: "as commanded" };

const textPart = (value: string): Part => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "",
});
const now = (): string => new Date().toISOString();

/** The official executor interface with the commands of our conformance agent. */
export class CommandExecutor implements AgentExecutor {
  readonly #cancels = new Map<string, () => void>();

  async execute({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const text = userMessage.parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("\n");
    const { word, count } = readCommand(text);
    const report = new EventPublisher(bus, taskId, contextId);
    if (task === undefined && word === "message") {
      bus.publish(AgentEvent.message({ ...report.message(`you said: ${text}`), taskId: "" }));
      return bus.finished();
    }
    if (task === undefined) report.begin(userMessage);
    report.status(TaskState.TASK_STATE_WORKING);
    if (word === "throw") throw new Error("inner secret");
    if (word === "stream") {
      for (let chunk = 1; chunk <= count; chunk++) report.artifact("stream", [textPart(`chunk ${chunk} `)], chunk, count);
    }
    if (task !== undefined) report.artifact("result", [textPart(`the answer was: ${text}`)]);
    else if (word === "task") report.artifact("result", [textPart("done")]);
    else if (word === "echo") report.artifact("echo", userMessage.parts);
    if (word === "wait" && task === undefined) {
      await new Promise<void>((resolve) => this.#cancels.set(taskId, resolve));
      report.status(TaskState.TASK_STATE_CANCELED);
    } else report.status((task === undefined ? ENDS[word] : undefined) ?? TaskState.TASK_STATE_COMPLETED, ECHO[word]);
    bus.finished();
  }

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const cancel = this.#cancels.get(taskId);
    if (cancel !== undefined) return cancel();
    new EventPublisher(bus, taskId, "").status(TaskState.TASK_STATE_CANCELED);
    bus.finished();
  };
}

/** The events of one task, complete as the generated types require. */
class EventPublisher {
  constructor(
    readonly bus: ExecutionEventBus,
    readonly taskId: string,
    readonly contextId: string,
  ) {}

  message(value: string): Message {
    return {
      messageId: crypto.randomUUID(),
      contextId: this.contextId,
      taskId: this.taskId,
      role: Role.ROLE_AGENT,
      parts: [textPart(value)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
  }

  begin(asked: Message): void {
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: now() };
    const { taskId: id, contextId } = this;
    const task: Task = { id, contextId, status, artifacts: [], history: [asked], metadata: undefined };
    this.bus.publish(AgentEvent.task(task));
  }

  status(state: TaskState, text?: string): void {
    const message = text === undefined ? undefined : this.message(text);
    const { taskId, contextId } = this;
    this.bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId, status: { state, message, timestamp: now() }, metadata: undefined }),
    );
  }

  artifact(artifactId: string, parts: Part[], chunk = 1, of = 1): void {
    const { taskId, contextId } = this;
    const artifact = { artifactId, name: artifactId, description: "", parts, metadata: undefined, extensions: [] };
    this.bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact,
        append: chunk > 1,
        lastChunk: chunk === of,
        metadata: undefined,
      }),
    );
  }
}

export interface Official13Options {
  readonly push?: boolean;
  /** Also serves 0.3, by the SDK's own compatibility layer, and declares it on the card. */
  readonly legacy?: boolean;
  /** The card names 1.0 only, while only 0.3 is served. */
  readonly lying?: boolean;
  readonly extended?: boolean;
}

/** The official server of the current generation, both HTTP bindings. */
export async function startOfficial13(options: Official13Options = {}): Promise<OfficialServer> {
  const { push = false, legacy = false, lying = false, extended = false } = options;
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const address = (path: string, protocolBinding: string, protocolVersion: string) => ({
    url: url + path,
    protocolBinding,
    protocolVersion,
  });
  const legacyInterfaces = [address("/rpc", "JSONRPC", "0.3"), address("/rest", "HTTP+JSON", "0.3")];
  const document = {
    name: "official",
    description: "the official server under test",
    version: "1.0.0",
    supportedInterfaces: [
      address("/rpc", "JSONRPC", "1.0"),
      address("/rest", "HTTP+JSON", "1.0"),
      ...(legacy ? legacyInterfaces : []),
    ],
    capabilities: { streaming: true, pushNotifications: push, extendedAgentCard: extended },
    defaultInputModes: ["text/plain", "application/json", "application/octet-stream"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "conform", name: "Conform", description: "commands", tags: ["koine-conformance"] }],
  };
  const truth = lying ? { ...document, supportedInterfaces: legacyInterfaces } : document;
  const requestHandler = new DefaultRequestHandler(
    AgentCard.fromJSON(truth),
    new InMemoryTaskStore(),
    new CommandExecutor(),
    undefined,
    push ? new InMemoryPushNotificationStore() : undefined,
    undefined,
    extended ? AgentCard.fromJSON({ ...document, description: "told to friends" }) : undefined,
  );
  const legacyCompat = { enabled: legacy || lying };
  // The extended card requires authentication.
  const userBuilder = extended ? async () => ({ isAuthenticated: true, userName: "tester" }) : UserBuilder.noAuthentication;
  const shared = { requestHandler, userBuilder, legacyCompat };
  const published = AgentCard.fromJSON(document);
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: async () => published }));
  if (lying) app.use("/rpc", forget10);
  app.use("/rpc", jsonRpcHandler(shared));
  app.use("/rest", lying ? legacyRestRouter(shared) : restHandler(shared));
  return {
    url,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The JSON-RPC handler distinguishes the versions by this header only; without it every request is 0.3. */
const forget10: RequestHandler = (request, _response, next) => {
  delete request.headers["a2a-version"];
  next();
};
