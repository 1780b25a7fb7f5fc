import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { agent, type Server, serve } from "../../../src/index.js";
import { provedDids } from "../../../src/internal.js";
import { type Protocol, protocols } from "../../../src/public/protocols.js";
import type { Behaviour, BehaviourFactory, ReceivedMessage } from "../behaviours/behaviour.js";
import { AgentPeers } from "../callers/peers.js";
import { runClock } from "../clock.js";
import { openModel } from "../models/open-model.js";
import type { BenchModel } from "../models/settings.js";
import { numbered, readPeerMessage, seqOf } from "../payload.js";
import type { AgentEvent } from "./agent-event.js";
import type { NoteSender } from "./notes.js";
import { openOwnIdentity } from "./own-identity.js";
import { openProgram } from "./program-agent.js";
import { ServiceLog } from "./service-log.js";
import { type AgentAddress, type AgentHost, type AgentTask, sharedConfiguration } from "./tasks.js";

/** A dead listener waits for nobody. */
const DRAIN_MS = 0;
/** Pieces of a streamed answer. */
const CHUNKS = 4;

export type Behaviours = Readonly<Record<string, BehaviourFactory>>;

export async function openAgents(task: AgentTask, notes: NoteSender<AgentEvent>, behaviours: Behaviours): Promise<AgentHost> {
  if (task.program !== undefined) return openProgram(task, task.program, notes);
  const log = new ServiceLog(task.run, runClock(task.origin), notes);
  const model = await openModel(task.model);
  const workers = await Promise.all(task.agents.map((address) => openWorker(address, task, { model, notes, behaviours })));
  const open = async (): Promise<readonly Server[]> => {
    const opened = await Promise.all(
      task.agents.map((address, index) =>
        openAgent({ ...address, port: ports[address.name] ?? address.port }, task, { log, worker: workers[index] ?? NOBODY }),
      ),
    );
    for (const worker of workers) worker.started?.();
    return opened;
  };
  let ports: Readonly<Record<string, number>> = {};
  let servers = await open();
  ports = Object.fromEntries(task.agents.map(({ name }, index) => [name, servers[index]?.port ?? 0]));
  return {
    ports,
    configuration: {
      ...sharedConfiguration(task),
      messageTimeoutMs: limitsOf(task).requestMs,
      "plug-in.protocol": task.arm.protocol,
      "plug-in.implementation": "koine",
    },
    async close() {
      for (const worker of workers) worker.stopped?.();
      await Promise.all(servers.map((server) => server.close()));
    },
    async reopen() {
      servers = await open();
    },
  };
}

/** What the servers are really opened with. */
function limitsOf({ settings }: AgentTask) {
  return { drainMs: DRAIN_MS, requestMs: settings.messageTimeoutMs };
}

/** Stands for a worker of an address that is none. */
const NOBODY: Behaviour = { handle: () => Promise.reject(new Error("there is no such agent")) };

interface WorkerParts {
  readonly model: BenchModel;
  readonly notes: NoteSender<AgentEvent>;
  readonly behaviours: Behaviours;
}

/** What the agent does: the behaviour of the scenario, or the model alone. */
async function openWorker(address: AgentAddress, task: AgentTask, { model, notes, behaviours }: WorkerParts): Promise<Behaviour> {
  const { settings, run, seed, data, restarts, identities } = task;
  if (settings.behaviour === undefined) return modelAlone(model);
  const create = behaviours[settings.behaviour];
  if (create === undefined) throw new Error(`there is no behaviour ${settings.behaviour}`);
  const { name, peers: targets = [], identity: own } = address;
  const now = runClock(task.origin);
  const known = own === undefined || identities === undefined ? undefined : { ...identities, own };
  const peers = new AgentPeers({ name, restarts, targets, identities: known, task, now, notes });
  const stateFolder = join(task.stateFolder, name);
  mkdirSync(stateFolder, { recursive: true });
  return create({
    name,
    agents: task.allAgents,
    peers,
    model,
    data,
    seed,
    settings,
    condition: task.condition,
    now,
    stateFolder,
    restarts,
    note: (kind, { seq, about, values = {} } = {}) =>
      notes.add({
        type: "note",
        run,
        agent: name,
        kind,
        ns: now(),
        ...(seq === undefined ? {} : { seq }),
        ...(about === undefined ? {} : { about }),
        values,
      }),
  });
}

function modelAlone(model: BenchModel): Behaviour {
  const { stream } = model;
  return {
    handle: ({ payload }, signal) => model.answer(payload, signal),
    ...(stream && { stream: ({ payload }, signal) => stream.call(model, payload, signal) }),
  };
}

function received(payload: string): ReceivedMessage {
  const peer = readPeerMessage(payload);
  if (peer !== undefined) return { payload, text: peer.text, seq: undefined, from: peer.id.slice(0, peer.id.indexOf("/")) };
  const seq = seqOf(payload);
  return { payload, text: seq === undefined ? payload : payload.slice(numbered(seq, "").length), seq, from: undefined };
}

interface Work {
  readonly log: ServiceLog;
  readonly worker: Behaviour;
}

async function openAgent(address: AgentAddress, task: AgentTask, { log, worker }: Work): Promise<Server> {
  const { name, publicUrl, port, host, names } = address;
  const { arm } = task;
  const protocol = protocols.find(({ id }) => id === arm.protocol);
  if (protocol === undefined) throw new Error(`there is no protocol ${arm.protocol}`);
  const served = new Set([arm.protocol, ...Object.values(arm.assign ?? {})]);
  const echo = agent({
    name,
    description: "An agent of the benchmark",
    handle:
      arm.features === "full"
        ? async function* (message, { call, signal }) {
            const service = log.begin(name, message.text, call);
            let text = "";
            try {
              const asked = received(message.text);
              for await (const piece of worker.stream?.(asked, signal) ?? piecesOf(await worker.handle(asked, signal))) {
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
            const text = await worker.handle(received(message.text), signal).catch((thrown: unknown) => {
              service?.fail();
              throw thrown;
            });
            service?.end(text);
            return text;
          },
  });
  return serve(echo, {
    port,
    ...(names === undefined ? { publicUrl } : { names }),
    // The only wire to another host leads to the caller of the run.
    ...(host === undefined ? {} : { host, openToEverybody: true }),
    // One that needs identities may lie over another, whose card it is found by. Calls of that one are refused: they prove nothing.
    protocols: protocol.needsIdentity === true ? protocols : protocols.filter(({ id }) => served.has(id)),
    ...(await identityOptions(address, task, protocol)),
    telemetry: log.telemetry,
    limits: limitsOf(task),
    onError: (thrown) => void process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
  });
}

/** An agent with an identity is called by those of its run alone. */
async function identityOptions({ name, identity: file }: AgentAddress, { identities }: AgentTask, protocol: Protocol) {
  if (file === undefined || identities === undefined) return {};
  const admission = provedDids(identities.callers, `only the processes of this run may call ${name}`);
  return { ...(await openOwnIdentity(file, identities, protocol)), admission };
}

function piecesOf(text: string): readonly string[] {
  const length = Math.max(1, Math.ceil(text.length / CHUNKS));
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) => text.slice(index * length, (index + 1) * length));
}
