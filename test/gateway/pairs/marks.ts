import { randomUUID } from "node:crypto";
import type { RemoteAgent } from "../../../src/index.js";
import type { Pair } from "./interfaces.js";
import { codeOf, collect, emulatedIn, seen, taskIdIn, taskIn, wordsOf } from "./seen.js";
import type { Worker } from "./worker.js";

/** `native`: both wires have it. `stand-in`: the gateway emulates it, and reports so. `absent`: the caller's wire cannot express it. */
export type Mark = "native" | "stand-in" | "absent";

export const ASPECTS = ["unary", "stream", "task", "cancel", "input"] as const;
export type Aspect = (typeof ASPECTS)[number];

/** The observed support of each feature in one pair. Throws if one failed. */
export async function marksOf(pair: Pair, caller: RemoteAgent, worker: Worker): Promise<Readonly<Record<Aspect, Mark>>> {
  return {
    unary: await unary(caller),
    stream: await stream(pair, caller),
    task: await task(pair, caller),
    cancel: await cancel(pair, caller, worker),
    input: await input(pair, caller),
  };
}

async function unary(caller: RemoteAgent): Promise<Mark> {
  must("you said: hello", await caller.ask("hello"));
  return "native";
}

async function stream({ listener }: Pair, caller: RemoteAgent): Promise<Mark> {
  const events = await collect(caller.stream("conform: stream 3"));
  must("chunk 1 chunk 2 chunk 3 ", wordsOf(events));
  if (!listener.traits.streaming) return "absent";
  return emulatedIn(events).includes("streaming") ? "stand-in" : "native";
}

async function task({ listener }: Pair, caller: RemoteAgent): Promise<Mark> {
  if (!listener.traits.tasks) return "absent";
  const events = await collect(caller.stream("conform: task"));
  const { status } = await caller.getTask(taskIdIn(events));
  must("completed", status.state);
  return emulatedIn(events).includes("tasks") ? "stand-in" : "native";
}

async function cancel({ listener, upstream }: Pair, caller: RemoteAgent, worker: Worker): Promise<Mark> {
  if (!listener.traits.tasks) return "absent";
  const text = `conform: wait ${randomUUID()}`;
  const { id } = taskIn(await caller.start(text));
  await worker.began(text);
  for await (const event of caller.subscribe(id)) if (seen(event).endsWith("working")) break;
  const followed = collect(caller.subscribe(id));
  await caller.cancelTask(id);
  must("status canceled", (await followed).map(seen).at(-1) ?? "nothing");
  if (!upstream.traits.tasks) return "stand-in";
  await worker.stopped(text);
  return "native";
}

async function input({ listener }: Pair, caller: RemoteAgent): Promise<Mark> {
  const session = randomUUID();
  const asked = await caller.send("conform: ask", { session });
  must("what is the answer?", wordsOf([asked]));
  const continued = asked.kind === "task" ? { task: asked.task.id } : {};
  must("the answer was: 42", await caller.ask("42", { session, ...continued }).catch(codeOf));
  return listener.traits.inputTurns ? "native" : "absent";
}

function must(expected: string, got: string): void {
  if (got !== expected) throw new Error(`${JSON.stringify(expected)} was expected, and ${JSON.stringify(got)} came`);
}
