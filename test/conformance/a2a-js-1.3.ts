import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard, type Message, Role, type Task, TaskState } from "@a2a-js/sdk";
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
import express from "express";

const text = (value: string) => ({
  content: { $case: "text" as const, value },
  metadata: undefined,
  filename: "",
  mediaType: "text/plain",
});
const now = (): string => new Date().toISOString();

/** The official executor interface, doing what our conformance agent does on command. */
class CommandExecutor implements AgentExecutor {
  readonly #cancels = new Map<string, () => void>();

  async execute({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const said = userMessage.parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("\n");
    const [, word = "", count = "3"] = /^conform: (\w+)\s*(\d+)?/.exec(said) ?? [];
    const message = (value: string): Message => ({
      messageId: crypto.randomUUID(),
      contextId,
      taskId,
      role: Role.ROLE_AGENT,
      parts: [text(value)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    });
    const status = (state: TaskState, value?: string): void =>
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId,
          status: { state, message: value === undefined ? undefined : message(value), timestamp: now() },
          metadata: undefined,
        }),
      );
    const artifact = (artifactId: string, value: string, append: boolean, lastChunk: boolean): void =>
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: { artifactId, name: artifactId, description: "", parts: [text(value)], metadata: undefined, extensions: [] },
          append,
          lastChunk,
          metadata: undefined,
        }),
      );
    if (task === undefined && (word === "" || word === "message")) {
      bus.publish(AgentEvent.message({ ...message(`you said: ${said}`), taskId: "" }));
      return bus.finished();
    }
    if (task === undefined) {
      const made: Task = {
        id: taskId,
        contextId,
        status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: now() },
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      };
      bus.publish(AgentEvent.task(made));
    }
    status(TaskState.TASK_STATE_WORKING);
    if (word === "throw") throw new Error("inner secret");
    if (word === "stream")
      for (let chunk = 1; chunk <= Number(count); chunk++)
        artifact("stream", `chunk ${chunk} `, chunk > 1, chunk === Number(count));
    if (word === "task" || task !== undefined) artifact("result", "done", false, true);
    if (word === "echo") artifact("echo", said, false, true);
    if (word === "wait") {
      await new Promise<void>((resolve) => this.#cancels.set(taskId, resolve));
      status(TaskState.TASK_STATE_CANCELED);
    } else status(ENDS[word] ?? TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const cancel = this.#cancels.get(taskId);
    if (cancel !== undefined) return cancel();
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId: "",
        status: { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: now() },
        metadata: undefined,
      }),
    );
    bus.finished();
  };
}

const ENDS: { readonly [word: string]: TaskState } = {
  ask: TaskState.TASK_STATE_INPUT_REQUIRED,
  fail: TaskState.TASK_STATE_FAILED,
  reject: TaskState.TASK_STATE_REJECTED,
};

/** The official server, current generation, both HTTP bindings, with or without its own layer for 0.3. */
export async function startOfficial(options: {
  readonly push: boolean;
  readonly legacy: boolean;
}): Promise<{ readonly url: string; close(): void }> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const address = (path: string, protocolBinding: string, protocolVersion: string) => ({
    url: url + path,
    protocolBinding,
    protocolVersion,
    tenant: "",
  });
  const card = AgentCard.fromJSON({
    name: "official",
    description: "the official server under test",
    version: "1.0.0",
    supportedInterfaces: [
      address("/rpc", "JSONRPC", "1.0"),
      address("/rest", "HTTP+JSON", "1.0"),
      ...(options.legacy ? [address("/rpc", "JSONRPC", "0.3"), address("/rest", "HTTP+JSON", "0.3")] : []),
    ],
    capabilities: { streaming: true, pushNotifications: options.push },
    defaultInputModes: ["text/plain", "application/json", "application/octet-stream"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "conform", name: "Conform", description: "commands", tags: ["koine-conformance"] }],
  });
  const pushes = options.push ? new InMemoryPushNotificationStore() : undefined;
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new CommandExecutor(), undefined, pushes);
  const legacyCompat = { enabled: options.legacy };
  const shared = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use("/rpc", jsonRpcHandler(shared));
  app.use("/rest", restHandler(shared));
  return {
    url,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
