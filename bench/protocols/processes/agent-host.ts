import { agent, type Server, serve } from "../../../src/index.js";
import { provedDids } from "../../../src/internal.js";
import { type Protocol, protocols } from "../../../src/public/protocols.js";
import { runClock } from "../clock.js";
import { openModel } from "../models/open-model.js";
import type { BenchModel } from "../models/settings.js";
import type { ServiceEvent } from "../result/index.js";
import type { NoteSender } from "./notes.js";
import { openOwnIdentity } from "./own-identity.js";
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
    configuration: {
      ...sharedConfiguration(task),
      messageTimeoutMs: limitsOf(task).requestMs,
      "plug-in.protocol": task.arm.protocol,
      "plug-in.implementation": "koine",
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
    async reopen() {
      servers = await Promise.all(task.agents.map((address) => open({ ...address, port: ports[address.name] ?? 0 })));
    },
  };
}

/** What the servers are really opened with. */
function limitsOf({ settings }: AgentTask) {
  return { drainMs: DRAIN_MS, requestMs: settings.messageTimeoutMs };
}

interface Work {
  readonly log: ServiceLog;
  readonly model: BenchModel;
}

async function openAgent(address: AgentAddress, task: AgentTask, { log, model }: Work): Promise<Server> {
  const { name, publicUrl, port, host } = address;
  const { arm } = task;
  const protocol = protocols.find(({ id }) => id === arm.protocol);
  if (protocol === undefined) throw new Error(`there is no protocol ${arm.protocol}`);
  const echo = agent({
    name,
    description: "An agent of the benchmark",
    handle:
      arm.features === "full"
        ? async function* (message, { call, signal }) {
            const service = log.begin(name, message.text, call);
            let text = "";
            try {
              for await (const piece of model.stream?.(message.text, signal) ??
                piecesOf(await model.answer(message.text, signal))) {
                service?.firstToken();
                text += piece;
                yield piece;
              }
            } catch (thrown) {
              service?.fail();
              throw thrown;
            }
            service?.end(text);
          }
        : async (message, { call, signal }) => {
            const service = log.begin(name, message.text, call);
            const text = await model.answer(message.text, signal).catch((thrown: unknown) => {
              service?.fail();
              throw thrown;
            });
            service?.end(text);
            return text;
          },
  });
  return serve(echo, {
    port,
    publicUrl,
    // The only wire to another host leads to the caller of the run.
    ...(host === undefined ? {} : { host, openToEverybody: true }),
    // One that needs identities may lie over another, whose card it is found by. Calls of that one are refused: they prove nothing.
    protocols: protocol.needsIdentity === true ? protocols : [protocol],
    ...(await identityOptions(address, task, protocol)),
    telemetry: log.telemetry,
    limits: limitsOf(task),
    onError: (thrown) => void process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
  });
}

/** An agent with an identity is called by those of its run alone. */
async function identityOptions({ name, identity: file }: AgentAddress, { identities }: AgentTask, protocol: Protocol) {
  if (file === undefined || identities === undefined) return {};
  const admission = provedDids(identities.callers, `only the caller of this run may call ${name}`);
  return { ...(await openOwnIdentity(file, identities, protocol)), admission };
}

function piecesOf(text: string): readonly string[] {
  const length = Math.max(1, Math.ceil(text.length / CHUNKS));
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) => text.slice(index * length, (index + 1) * length));
}
