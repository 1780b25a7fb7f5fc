import { type AgentCard, type Message, type Part, Role, TaskState, type TaskStatus } from "@a2a-js/sdk";
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from "@a2a-js/sdk/server";
import { type Mode, nextTurn, STREAM_CHUNKS } from "../workload.js";

/** The benchmark agent for the official SDK, used by all of its servers. */
export function executorOf(mode: Mode): AgentExecutor {
  return {
    async execute(context, bus) {
      if (mode === "reply") {
        bus.publish(AgentEvent.message(reply(context)));
        bus.finished();
        return;
      }
      publishStart(context, bus);
      if (mode === "hold") await new Promise(() => {});
      await publishArtifacts(context, bus, mode === "stream" || mode === "burst" ? STREAM_CHUNKS : 1);
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

export function cardAt(url: string): AgentCard {
  return {
    name: "bench",
    description: "Echoes",
    version: "1.0.0",
    provider: undefined,
    supportedInterfaces: [
      { url: `${url}/a2a`, protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", tenant: "", protocolVersion: "1.0" },
      // Its gRPC server answers only in versions that the card lists for gRPC.
      { url, protocolBinding: "GRPC", tenant: "", protocolVersion: "1.0" },
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
