import { type AgentFunction, agent, serve } from "../../../../src/index.js";
import { answerCommands } from "../../../harness/worker.js";
import { type Mode, nextTurn, OPEN_STREAMS, type ServerAddress, STREAM_CHUNKS, type StartServer } from "../workload.js";

/** Koine as a user has it: the built package, `agent` and `serve`, every default but the limits that the held streams need. */

/** All streams of the memory section belong to the one anonymous caller, those opened to warm up too. */
const ROOM = 2 * OPEN_STREAMS;

answerCommands({ start });

async function start({ mode }: StartServer): Promise<ServerAddress> {
  const echo = agent({ name: "bench", description: "Echoes", handle: HANDLERS[mode] });
  const server = await serve(echo, { port: 0, ...(mode === "hold" && HOLDING) });
  return { url: server.url, port: server.port, rpcPath: "/a2a", restPath: "/a2a/message:send" };
}

const HOLDING = {
  limits: { openStreamsPerOwner: ROOM },
  taskLimits: { runningTasks: ROOM, runningTasksPerOwner: ROOM },
} as const;

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
  async *hold(_message, task) {
    yield task.working();
    await new Promise(() => {});
  },
};
