import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { AgentEvent, Envelope, EventOf, Loss, Status } from "../../../src/index.js";
import { isPromise } from "../../../src/internal.js";
import { startCall } from "../../../src/public/protocols.js";
import { type AgentFunction, Relayed, RelayedMessage } from "../../../src/tasks/index.js";
import { differences, unreported } from "../../bridge/differences.js";
import { ended, message, said, uuid } from "../../bridge/samples.js";
import type { BridgedInterface } from "./bridges.js";
import type { Pair } from "./interfaces.js";
import { contentOf } from "./seen.js";
import type { Worker } from "./worker.js";

/** What a rich exchange lost, as it was reported, and what was different although nobody reported it. */
export interface Measured {
  readonly losses: readonly Loss[];
  readonly unreported: readonly string[];
  readonly exchanges: number;
}

/** The same messages and tasks in every run, on every machine. */
const SEED = 20_261_116;
const MESSAGES = 24;
const TASKS = 16;
/** Samples allow as little as a millisecond; what is measured here is no haste. */
const ENOUGH_MS = 60_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Who speaks to whom and when is each hop's own affair; upstream a gateway ids, sessions and keys are its own, on purpose. */
const OF_EACH_HOP = new Set([
  "message.id",
  "message.ts",
  "message.src",
  "message.dst",
  "message.role",
  "message.context.sessionId",
  "message.context.idempotencyKey",
  "message.context.taskId",
]);

/** Lost by every gateway that adopts tasks, whatever it speaks: said once, not in every cell. */
export const OF_EVERY_GATEWAY = "message.references";

type EndedTask = typeof ended extends fc.Arbitrary<infer T> ? T : never;

const MESSAGE_SAMPLES = fc.sample(fc.tuple(message, said), { seed: SEED, numRuns: MESSAGES });
const TASK_SAMPLES = fc.sample(fc.tuple(message, ended, said), { seed: SEED + 1, numRuns: TASKS });
const [REFERENCE = ""] = fc.sample(uuid, { seed: SEED, numRuns: 1 });

/** An agent that answers with what is written for it, and shows what it was asked. */
export class ScriptedAgent {
  heard: Envelope | undefined;
  #reply: Relayed | RelayedMessage | undefined;

  /** What is answered next, whatever is asked. */
  write(reply: Relayed | RelayedMessage): void {
    this.heard = undefined;
    this.#reply = reply;
  }

  erase(): void {
    this.#reply = undefined;
  }

  /** Takes a turn where something is written, else leaves it to another. */
  over(other: AgentFunction): AgentFunction {
    return (incoming, task) => {
      if (this.#reply === undefined) return other(incoming, task);
      this.heard = incoming;
      return Promise.resolve(this.#reply);
    };
  }
}

/** Sends everything a message can have, is answered with everything an answer can have, and compares. */
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
    if (!isPromise(answer)) throw new Error("one answer was expected and a stream came");
    const got = (await answer) as EventOf<"send">; // every client half checks that it is
    losses.push(...gateway.takeLosses(), ...worker.takeLosses());
    const told = losses.slice(before);
    const sides = { asked: messageDifferences(sent, agent.heard), answered: compare(got) };
    for (const [side, places] of Object.entries(sides))
      silent.push(...untold(places, told).map((place) => `${side}: ${place} (exchange ${exchanges})`));
    exchanges++;
    return told;
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
    const told = await cross(
      { ...hello, references: [REFERENCE] },
      new RelayedMessage({ ...hello, role: "agent" }, undefined),
      () => [],
    );
    if (!told.some(({ path }) => path === OF_EVERY_GATEWAY)) silent.push(OF_EVERY_GATEWAY);
  }
  agent.erase();
  return { losses: losses.filter(({ path }) => path !== OF_EVERY_GATEWAY), unreported: silent, exchanges };
}

/** A sample with a time that is enough, a key that nobody has used, and one of two sessions: some wires keep few at a time. */
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

/** An answer may be a message on one wire, an artifact on the other, and come at once or in a stream: any name of the place will do. */
function untold(places: readonly string[], losses: readonly Loss[]): readonly string[] {
  return unreported(places, losses).filter((place) =>
    ["task.artifacts[0].parts", "artifact.parts"].every(
      (parts) => unreported([place.replace(/^(message\.content|task\.artifacts\[\d+\]\.parts)/, parts)], losses).length > 0,
    ),
  );
}

function messageDifferences(sent: Envelope, heard: Envelope | undefined): readonly string[] {
  if (heard === undefined) return ["message"];
  return differences(wholeOf(sent), wholeOf(heard), "message").filter((place) => !OF_EACH_HOP.has(place));
}

/** The members of a message; what reading it added is none. */
function wholeOf({ intent, role, content, context, meta, references, extensions, metadata }: Envelope): object {
  return { intent, role, content, context: { ...context, stream: undefined }, meta, references, extensions, metadata };
}

function answerDifferences({ content, metadata }: Pick<Envelope, "content" | "metadata">, got: AgentEvent): readonly string[] {
  const places = differences(content, contentOf([got]), "message.content");
  const kept = got.kind === "message" ? got.message.metadata : got.kind === "task" ? got.task.artifacts[0]?.metadata : undefined;
  return [...places, ...differences(metadata, kept, "message.metadata")];
}

/** A task that ran upstream the gateway as its last words tell it. */
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
