import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentCard, Message, Part, TaskState } from "a2a-js-sdk-03";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "a2a-js-sdk-03/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "a2a-js-sdk-03/server/express";
import express from "express";

const text = (value: string): Part => ({ kind: "text", text: value });
const ENDS: { readonly [word: string]: TaskState } = { ask: "input-required", fail: "failed", reject: "rejected" };

/** The official executor interface of the older generation, with the same commands. */
class CommandExecutor implements AgentExecutor {
  readonly #cancels = new Map<string, () => void>();

  execute = async ({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const said = userMessage.parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n");
    const [, word = "", count = "3"] = /^conform: (\w+)\s*(\d+)?/.exec(said) ?? [];
    const message: Message = {
      kind: "message",
      messageId: crypto.randomUUID(),
      contextId,
      role: "agent",
      parts: [text(`you said: ${said}`)],
    };
    const status = (state: TaskState, final: boolean): void =>
      bus.publish({ kind: "status-update", taskId, contextId, final, status: { state, timestamp: new Date().toISOString() } });
    const artifact = (artifactId: string, value: string, append: boolean, lastChunk: boolean): void =>
      bus.publish({
        kind: "artifact-update",
        taskId,
        contextId,
        append,
        lastChunk,
        artifact: { artifactId, parts: [text(value)] },
      });
    if (task === undefined && (word === "" || word === "message")) {
      bus.publish(message);
      return bus.finished();
    }
    if (task === undefined) {
      const submitted = { state: "submitted", timestamp: new Date().toISOString() } as const;
      bus.publish({ kind: "task", id: taskId, contextId, status: submitted, history: [userMessage], artifacts: [] });
    }
    status("working", false);
    if (word === "throw") throw new Error("inner secret");
    if (word === "stream")
      for (let chunk = 1; chunk <= Number(count); chunk++)
        artifact("stream", `chunk ${chunk} `, chunk > 1, chunk === Number(count));
    if (word === "task" || task !== undefined) artifact("result", "done", false, true);
    if (word === "echo") artifact("echo", said, false, true);
    if (word === "wait") {
      await new Promise<void>((resolve) => this.#cancels.set(taskId, resolve));
      status("canceled", true);
    } else status(ENDS[word] ?? "completed", true);
    bus.finished();
  };

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const cancel = this.#cancels.get(taskId);
    if (cancel !== undefined) return cancel();
    bus.publish({ kind: "status-update", taskId, contextId: "", final: true, status: { state: "canceled" } });
    bus.finished();
  };
}

/** The official server of the 0.3 generation, both HTTP bindings. */
export async function startOfficial03(): Promise<{ readonly url: string; close(): void }> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const card: AgentCard = {
    name: "official",
    description: "the official server under test",
    version: "1.0.0",
    protocolVersion: "0.3.0",
    url: `${url}/rpc`,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url: `${url}/rest`, transport: "HTTP+JSON" }],
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "conform", name: "Conform", description: "commands", tags: ["koine-conformance"] }],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new CommandExecutor());
  const shared = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
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
