import { agent, type Server, serve } from "../../../src/index.js";
import { protocols } from "../../../src/public/protocols.js";
import { runClock } from "../clock.js";
import { openModel } from "../models/open-model.js";
import type { BenchModel } from "../models/settings.js";
import type { ServiceEvent } from "../result/index.js";
import type { NoteSender } from "./notes.js";
import { openProgram } from "./program-agent.js";
import { ServiceLog } from "./service-log.js";
import { type AgentAddress, type AgentHost, type AgentTask, sharedConfiguration } from "./tasks.js";

/** A dead listener waits for nobody. */
const DRAIN_MS = 0;
/** Pieces of a streamed answer. */
const CHUNKS = 4;

export async function openAgents(task: AgentTask, notes: NoteSender<ServiceEvent>): Promise<AgentHost> {
  if (task.program !== undefined) return openProgram(task, task.program, notes);
  const log = new ServiceLog(task.run, runClock(task.origin), notes);
  const model = await openModel(task.model);
  const open = (address: AgentAddress): Promise<Server> => openAgent(address, task, { log, model });
  let servers = await Promise.all(task.agents.map(open));
  const ports = Object.fromEntries(task.agents.map(({ name }, index) => [name, servers[index]?.port ?? 0]));
  return {
    ports,
    configuration: { ...sharedConfiguration(task), "plug-in.protocol": task.arm.protocol, "plug-in.implementation": "koine" },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
    async reopen() {
      servers = await Promise.all(task.agents.map((address) => open({ ...address, port: ports[address.name] ?? 0 })));
    },
  };
}

interface Work {
  readonly log: ServiceLog;
  readonly model: BenchModel;
}

function openAgent({ name, publicUrl, port }: AgentAddress, { arm, settings }: AgentTask, { log, model }: Work): Promise<Server> {
  const served = protocols.filter(({ id }) => id === arm.protocol);
  if (served.length === 0) throw new Error(`there is no protocol ${arm.protocol}`);
  const answer = async (payload: string, signal: AbortSignal): Promise<string> => model.answer(payload, signal);
  const echo = agent({
    name,
    description: "An agent of the benchmark",
    handle:
      arm.features === "full"
        ? async function* (message, task) {
            const service = log.begin(name, message.text, task.call);
            const text = await answer(message.text, task.signal);
            yield* piecesOf(text);
            service?.end(text);
          }
        : async (message, task) => {
            const service = log.begin(name, message.text, task.call);
            const text = await answer(message.text, task.signal);
            service?.end(text);
            return text;
          },
  });
  return serve(echo, {
    port,
    publicUrl,
    protocols: served,
    telemetry: log.telemetry,
    limits: { drainMs: DRAIN_MS, requestMs: settings.messageTimeoutMs },
    onError: (thrown) => void process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
  });
}

function piecesOf(text: string): readonly string[] {
  const length = Math.max(1, Math.ceil(text.length / CHUNKS));
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) => text.slice(index * length, (index + 1) * length));
}
