import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AgentCard, type Message, type Part, Role, TaskState, type TaskStatus } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { answerCommands } from "../../harness/worker.js";
import { type Mode, nextTurn, type ServerAddress, STREAM_CHUNKS, type StartServer } from "../workload.js";

/** The official SDK, set up as its README says: express, default request handler, memory store. */

answerCommands({ start });

async function start({ mode }: StartServer): Promise<ServerAddress> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const requestHandler = new DefaultRequestHandler(cardAt(url), new InMemoryTaskStore(), executorOf(mode));
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/a2a", jsonRpcHandler(options));
  app.use("/rest", restHandler(options));
  return { url, port, rpcPath: "/a2a", restPath: "/rest/message:send" };
}

function executorOf(mode: Mode): AgentExecutor {
  return {
    async execute(context, bus) {
      if (mode === "reply") {
        bus.publish(AgentEvent.message(reply(context)));
        bus.finished();
        return;
      }
      publishStart(context, bus);
      if (mode === "hold") await new Promise(() => {});
      await publishArtifacts(context, bus, mode === "stream" ? STREAM_CHUNKS : 1);
      publishStatus(context, bus, TaskState.TASK_STATE_COMPLETED);
      bus.finished();
    },
    async cancelTask() {},
  };
}

function publishStart(context: RequestContext, bus: ExecutionEventBus): void {
  const { taskId: id, contextId, userMessage } = context;
  const submitted = statusOf(TaskState.TASK_STATE_SUBMITTED);
  bus.publish(AgentEvent.task({ id, contextId, status: submitted, artifacts: [], history: [userMessage], metadata: undefined }));
  publishStatus(context, bus, TaskState.TASK_STATE_WORKING);
}

async function publishArtifacts({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus, chunks: number) {
  for (let index = 0; index < chunks; index++) {
    const artifact = {
      artifactId: "result",
      name: "",
      description: "",
      parts: userMessage.parts,
      metadata: undefined,
      extensions: [],
    };
    const [append, lastChunk] = [index > 0, index === chunks - 1];
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined }));
    if (chunks > 1) await nextTurn();
  }
}

function publishStatus({ taskId, contextId }: RequestContext, bus: ExecutionEventBus, state: TaskState): void {
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state), metadata: undefined }));
}

function statusOf(state: TaskState): TaskStatus {
  return { state, message: undefined, timestamp: new Date().toISOString() };
}

function reply({ contextId, userMessage }: RequestContext): Message {
  const parts: Part[] = userMessage.parts;
  const messageId = crypto.randomUUID();
  return {
    messageId,
    contextId,
    taskId: "",
    role: Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function cardAt(url: string): AgentCard {
  return {
    name: "bench",
    description: "Echoes",
    version: "1.0.0",
    provider: undefined,
    supportedInterfaces: [
      { url: `${url}/a2a`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", tenant: "", protocolVersion: "1.0" },
    ],
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    signatures: [],
  };
}
