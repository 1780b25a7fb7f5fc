import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { withReferredParts } from "../../../src/envelope/index.js";
import type { AgentEvent, Envelope, EventOf, Loss, Status } from "../../../src/index.js";
import { isPromise } from "../../../src/internal.js";
import { startCall } from "../../../src/public/protocols.js";
import { type AgentFunction, Relayed, RelayedMessage } from "../../../src/tasks/index.js";
import { differences, unreported } from "../../bridge/differences.js";
import { agentContent, ended, message, uuid } from "../../bridge/samples.js";
import type { BridgedInterface } from "./bridges.js";
import type { Pair } from "./interfaces.js";
import { contentOf } from "./seen.js";
import type { Worker } from "./worker.js";

/** The reported losses of a rich exchange, and its unreported differences. */
export interface Measured {
  readonly losses: readonly Loss[];
  readonly unreported: readonly string[];
  readonly exchanges: number;
}

/** The same messages and tasks in every run, on every machine. */
const SEED = 20_261_116;
const MESSAGES = 24;
const TASKS = 16;
/** Samples have timeouts as short as a millisecond, which is not under test here. */
const ENOUGH_MS = 60_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Set by each hop: source, destination and time; upstream also ids, sessions and keys. */
const OF_EACH_HOP = new Set([
  "message.id",
  "message.ts",
  "message.src",
  "message.dst",
  // Where the upstream knows the gateway by its DID.
  "message.meta.claimedSrc",
  "message.role",
  "message.context.sessionId",
  "message.context.idempotencyKey",
  "message.context.taskId",
]);

/** Lost by every gateway that adopts tasks, in any protocol: listed once, not in every cell. */
export const OF_EVERY_GATEWAY = "message.references";

type EndedTask = typeof ended extends fc.Arbitrary<infer T> ? T : never;

const MESSAGE_SAMPLES = fc.sample(fc.tuple(message, agentContent), { seed: SEED, numRuns: MESSAGES });
const TASK_SAMPLES = fc.sample(fc.tuple(message, ended, agentContent), { seed: SEED + 1, numRuns: TASKS });
const [REFERENCE = ""] = fc.sample(uuid, { seed: SEED, numRuns: 1 });

/** An agent that returns prepared answers, and records its requests. */
export class ScriptedAgent {
  received: Envelope | undefined;
  #reply: Relayed | RelayedMessage | undefined;

  /** The next answer, whatever the request. */
  write(reply: Relayed | RelayedMessage): void {
    this.received = undefined;
    this.#reply = reply;
  }

  erase(): void {
    this.#reply = undefined;
  }

  /** Handles a turn if an answer is prepared, otherwise leaves it to the next handler. */
  over(other: AgentFunction): AgentFunction {
    return (incoming, task) => {
      if (this.#reply === undefined) return other(incoming, task);
      this.received = incoming;
      return Promise.resolve(this.#reply);
    };
  }
}

/** Sends all that a message can hold, receives all that an answer can hold, and compares. */
export async function measure(pair: Pair, gateway: BridgedInterface, worker: Worker, agent: ScriptedAgent): Promise<Measured> {
  const { handler } = await gateway.caller(pair.listener);
  const losses: Loss[] = [];
  const silent: string[] = [];
  const run = randomUUID();
  let exchanges = 0;

  async function cross(sample: Envelope, reply: Relayed | RelayedMessage, compare: (got: EventOf<"send">) => readonly string[]) {
    const sent = usable(sample, run);
    agent.write(reply);
    gateway.takeLosses();
    worker.takeLosses();
    const call = startCall({ reportLoss: (loss) => void losses.push(loss) });
    const before = losses.length;
    const answer = handler({ kind: "send", envelope: sent, delivery: "answer", task: "auto" }, call);
    if (!isPromise(answer)) throw new Error("expected a single event, got a stream");
    const got = (await answer) as EventOf<"send">; // every client half checks that it is
    losses.push(...gateway.takeLosses(), ...worker.takeLosses());
    const reported = losses.slice(before);
    const sides = { asked: messageDifferences(sent, agent.received), answered: compare(got) };
    for (const [side, places] of Object.entries(sides))
      silent.push(...unreportedIn(places, reported).map((at) => `${side}: ${at} (exchange ${exchanges})`));
    exchanges++;
    return reported;
  }

  for (const [asked, answered] of MESSAGE_SAMPLES)
    await cross(
      { ...asked, references: undefined },
      new RelayedMessage({ ...asked, ...answered, role: "agent" }, undefined),
      (got) => answerDifferences(answered, got),
    );
  for (const [asked, task, words] of TASK_SAMPLES)
    await cross({ ...asked, references: undefined }, endedAs(task, { ...asked, ...words, role: "agent" }), (got) =>
      taskDifferences(task, words, got),
    );
  const [[hello] = [undefined]] = MESSAGE_SAMPLES;
  if (hello !== undefined) {
    const reported = await cross(
      { ...hello, references: [REFERENCE] },
      new RelayedMessage({ ...hello, role: "agent" }, undefined),
      () => [],
    );
    if (!reported.some(({ path }) => path === OF_EVERY_GATEWAY)) silent.push(OF_EVERY_GATEWAY);
  }
  agent.erase();
  return { losses: losses.filter(({ path }) => path !== OF_EVERY_GATEWAY), unreported: silent, exchanges };
}

/** A sample with a sufficient timeout, a fresh key, and one of two sessions: some wires keep few at a time. */
function usable(sample: Envelope, run: string): Envelope {
  const { ttlMs, idempotencyKey, sessionId = "" } = sample.context;
  const context = {
    ...sample.context,
    sessionId: UUID.test(sessionId) ? run : `trip-${run}`,
    ttlMs: ttlMs && ttlMs + ENOUGH_MS,
    idempotencyKey: idempotencyKey && `${idempotencyKey}-${randomUUID()}`,
  };
  return { ...sample, context };
}

/** An answer may be a message on one wire, an artifact on the other, complete or streamed: any name of the path counts. */
function unreportedIn(places: readonly string[], losses: readonly Loss[]): readonly string[] {
  return unreported(places, losses).filter((at) =>
    ["task.artifacts[0].parts", "artifact.parts"].every(
      (parts) => unreported([at.replace(/^(message\.content|task\.artifacts\[\d+\]\.parts)/, parts)], losses).length > 0,
    ),
  );
}

function messageDifferences(sent: Envelope, received: Envelope | undefined): readonly string[] {
  if (received === undefined) return ["message"];
  // The references that arrived are among the parts that the agent reads.
  const content = withReferredParts({ ...sent, context: received.context });
  return differences(wholeOf({ ...sent, content }), wholeOf(received), "message").filter((at) => !OF_EACH_HOP.has(at));
}

/** The members of a message without those added by decoding. */
function wholeOf({ intent, role, content, context, meta, references, extensions, metadata }: Envelope): object {
  return { intent, role, content, context: { ...context, stream: undefined }, meta, references, extensions, metadata };
}

function answerDifferences({ content, metadata }: Pick<Envelope, "content" | "metadata">, got: AgentEvent): readonly string[] {
  const places = differences(content, contentOf([got]), "message.content");
  const kept = got.kind === "message" ? got.message.metadata : got.kind === "task" ? got.task.artifacts[0]?.metadata : undefined;
  return [...places, ...differences(metadata, kept, "message.metadata")];
}

/** A task that ran upstream, as its last message describes it. */
function endedAs({ state, artifacts }: EndedTask, words: Envelope): Relayed {
  const of = { taskId: "", contextId: "" };
  const status: Status = { state, at: Date.now(), message: words };
  return new Relayed(
    [
      ...artifacts.map((artifact) => ({ kind: "artifact", ...of, artifact, append: false, last: true }) as const),
      { kind: "status", ...of, status },
    ],
    undefined,
  );
}

function taskDifferences(
  { state, artifacts }: EndedTask,
  { content }: Pick<Envelope, "content">,
  got: AgentEvent,
): readonly string[] {
  if (got.kind !== "task") return ["task"];
  const { status } = got.task;
  return differences(
    { status: { state, message: { content } }, artifacts },
    { status: { state: status.state, message: { content: status.message?.content } }, artifacts: got.task.artifacts },
    "task",
  );
}
