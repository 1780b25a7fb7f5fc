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
import { type OfficialServer, readCommand } from "./official.js";

const ENDS: { readonly [word: string]: TaskState } = { ask: "input-required", fail: "failed", reject: "rejected" };
const ECHO: { readonly [word: string]: string } = { ask: "what is the answer?", fail: "as commanded", reject: "as commanded" };

const textPart = (text: string): Part => ({ kind: "text", text });
const now = (): string => new Date().toISOString();

/** The official executor interface of the older generation, with the same commands. */
class CommandExecutor implements AgentExecutor {
  readonly #cancels = new Map<string, () => void>();

  execute = async ({ userMessage, taskId, contextId, task }: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const words = userMessage.parts.map((part) => (part.kind === "text" ? part.text : "")).join("\n");
    const { word, count } = readCommand(words);
    const report = new EventPublisher(bus, taskId, contextId);
    if (task === undefined && word === "message") {
      bus.publish({ ...report.message(`you said: ${words}`) });
      return bus.finished();
    }
    if (task === undefined) {
      const status = { state: "submitted", timestamp: now() } as const;
      bus.publish({ kind: "task", id: taskId, contextId, status, history: [userMessage], artifacts: [] });
    }
    report.status("working", false);
    if (word === "throw") throw new Error("inner secret");
    if (word === "stream") {
      for (let chunk = 1; chunk <= count; chunk++) report.artifact("stream", [textPart(`chunk ${chunk} `)], chunk, count);
    }
    if (task !== undefined) report.artifact("result", [textPart(`the answer was: ${words}`)]);
    else if (word === "task") report.artifact("result", [textPart("done")]);
    else if (word === "echo") report.artifact("echo", userMessage.parts);
    if (word === "wait" && task === undefined) {
      await new Promise<void>((resolve) => this.#cancels.set(taskId, resolve));
      report.status("canceled", true);
    } else report.status((task === undefined ? ENDS[word] : undefined) ?? "completed", true, ECHO[word]);
    bus.finished();
  };

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const cancel = this.#cancels.get(taskId);
    if (cancel !== undefined) return cancel();
    new EventPublisher(bus, taskId, "").status("canceled", true);
    bus.finished();
  };
}

class EventPublisher {
  constructor(
    readonly bus: ExecutionEventBus,
    readonly taskId: string,
    readonly contextId: string,
  ) {}

  message(text: string): Message {
    const { contextId } = this;
    return { kind: "message", messageId: crypto.randomUUID(), contextId, role: "agent", parts: [textPart(text)] };
  }

  status(state: TaskState, final: boolean, words?: string): void {
    const { taskId, contextId } = this;
    const status = { state, timestamp: now(), ...(words === undefined ? {} : { message: this.message(words) }) };
    this.bus.publish({ kind: "status-update", taskId, contextId, final, status });
  }

  artifact(artifactId: string, parts: Part[], chunk = 1, of = 1): void {
    const { taskId, contextId } = this;
    const artifact = { artifactId, name: artifactId, parts };
    this.bus.publish({ kind: "artifact-update", taskId, contextId, append: chunk > 1, lastChunk: chunk === of, artifact });
  }
}

/** The official server of the 0.3 generation, both HTTP bindings. */
export async function startOfficial03(): Promise<OfficialServer> {
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
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
