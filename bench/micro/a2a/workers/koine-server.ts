import { type AgentFunction, agent, type ServeOptions, serve } from "../../../../src/index.js";
import { answerCommands } from "../../../harness/worker.js";
import {
  IDLE_MS,
  MEASURED_STREAMS,
  type Mode,
  nextTurn,
  type Room,
  type ServerAddress,
  STREAM_CHUNKS,
  type StartServer,
  WARM_STREAMS,
} from "../workload.js";

/** Koine as a user has it: the built package, `agent` and `serve`, every default but the limits that held streams, kept tasks and pauses need. */

answerCommands({ start });

async function start({ mode, room }: StartServer): Promise<ServerAddress> {
  const echo = agent({ name: "bench", description: "Echoes", handle: HANDLERS[mode] });
  const server = await serve(echo, {
    port: 0,
    ...limitsFor(mode === "hold" ? { streams: WARM_STREAMS + MEASURED_STREAMS } : room),
  });
  return { url: server.url, port: server.port, rpcPath: "/a2a", restPath: "/a2a/message:send" };
}

const GIGABYTE = 1024 ** 3;

/** All streams belong to the one anonymous caller, those opened to warm up too. */
function limitsFor({ keep, streams }: Room = {}): Pick<ServeOptions, "limits" | "taskLimits"> {
  return {
    limits: { idleMs: IDLE_MS, ...(streams !== undefined && { openStreamsPerOwner: 2 * streams }) },
    taskLimits: {
      ...(streams !== undefined && { runningTasks: 2 * streams, runningTasksPerOwner: 2 * streams }),
      ...(keep !== undefined && { keptTasks: keep, keptBytes: GIGABYTE }),
    },
  };
}

const HANDLERS: Readonly<Record<Mode, AgentFunction>> = {
  reply: async (message) => message.text,
  async *task(message, task) {
    yield task.working();
    yield task.artifact(message.text);
  },
  async *stream(message, task) {
    yield task.working();
    for (let index = 0; index < STREAM_CHUNKS; index++) {
      yield task.artifact(message.text, { id: "result", append: index > 0, last: index === STREAM_CHUNKS - 1 });
      await nextTurn();
    }
  },
  async *burst(message, task) {
    yield task.working();
    for (let index = 0; index < STREAM_CHUNKS; index++)
      yield task.artifact(message.text, { id: "result", append: index > 0, last: index === STREAM_CHUNKS - 1 });
  },
  async *hold(_message, task) {
    yield task.working();
    await new Promise(() => {});
  },
  async *"reply or hold"(message, task) {
    if (task.delivery !== "stream") return message.text;
    yield task.working();
    await new Promise(() => {});
    return undefined;
  },
};
