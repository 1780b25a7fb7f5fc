import { describe, expect, it } from "vitest";
import { BurstSource } from "../../test/helpers/burst-source.js";
import { fakeClock } from "../../test/helpers/clock.js";
import {
  AgentError,
  type AgentEvent,
  type Cursor,
  type Handler,
  newEnvelope,
  type Operation,
  type ReadyIterator,
  startCall,
  TAKE_READY,
} from "../envelope/index.js";
import { type ResumeOptions, resumeStreams } from "./resume-streams.js";

const cut = new AgentError("interrupted", "the stream was cut", { sent: "maybe" });
const ids = { now: () => 1, newId: () => "m" };
const send: Operation = {
  kind: "send",
  delivery: "stream",
  task: "auto",
  envelope: newEnvelope({ content: "go", src: "a", dst: "b", context: {} }, ids),
};

type Told = "submitted" | "working" | "completed" | "input-required";

function event(mark: string, state: Told, kind: "status" | "task" = "status"): AgentEvent {
  const cursor = mark as Cursor; // the peer's own mark, opaque to the layer
  const status = { state, at: 1 };
  return kind === "task"
    ? { kind, cursor, task: { id: "t", contextId: "c", status, artifacts: [], history: [] } }
    : { kind, cursor, taskId: "t", contextId: "c", status };
}

/** A peer that plays one script per call; an error ends the script by being thrown. */
function peer(scripts: readonly (readonly (AgentEvent | AgentError)[])[]) {
  const asked: Operation[] = [];
  const handler: Handler = (operation) => {
    const script = scripts[asked.length] ?? [];
    asked.push(operation);
    return (async function* () {
      for (const step of script) {
        if (step instanceof AgentError) throw step;
        yield step;
      }
    })();
  };
  return { handler, asked };
}

async function collect(handler: Handler, change: Partial<ResumeOptions> = {}, operation = send) {
  const clock = { ...fakeClock(), sleep: async () => undefined };
  const layer = resumeStreams({ canResume: () => true, clock, random: () => 0.5, ...change });
  const seen: string[] = [];
  const reply = layer(handler)(operation, startCall()) as AsyncIterable<AgentEvent>;
  try {
    for await (const each of reply) seen.push(String(each.cursor));
    return { seen };
  } catch (thrown) {
    return { seen, thrown };
  }
}

describe("resumeStreams", () => {
  it("resumes an interrupted stream after the last event, without duplicates", async () => {
    const { handler, asked } = peer([
      [event("1", "submitted", "task"), event("2", "working"), cut],
      [event("2", "working", "task"), event("3", "working"), cut],
      [event("3", "working", "task"), event("4", "completed")],
    ]);
    expect(await collect(handler)).toEqual({ seen: ["1", "2", "3", "4"] });
    expect(asked.slice(1)).toEqual([
      { kind: "task.subscribe", taskId: "t", after: "2", follow: true },
      { kind: "task.subscribe", taskId: "t", after: "3", follow: true },
    ]);
  });

  it("resumes one that was cut while ready events were taken", async () => {
    const scripts = [
      [event("1", "submitted", "task"), event("2", "working"), cut],
      [event("2", "working", "task"), event("3", "working"), event("4", "completed"), event("5", "working")],
    ];
    const handler: Handler = () => new BurstSource<AgentEvent>(...(scripts.shift() ?? []));
    const clock = { ...fakeClock(), sleep: async () => undefined };
    const layer = resumeStreams({ canResume: () => true, clock, random: () => 0.5 });
    const reply = (layer(handler)(send, startCall()) as AsyncIterable<AgentEvent>)[Symbol.asyncIterator]();
    const ready: ReadyIterator<AgentEvent> = reply;
    const pulls: string[][] = [];
    for (let step = await ready.next(); step.done !== true; step = await ready.next()) {
      const together = [String(step.value.cursor)];
      for (let more = ready[TAKE_READY]?.(); more !== undefined; more = ready[TAKE_READY]?.()) together.push(String(more.cursor));
      pulls.push(together);
    }
    expect(pulls).toEqual([
      ["1", "2"],
      ["3", "4"],
    ]);
  });

  it("ends the stream of a send at input-required, although a subscription continues", async () => {
    const { handler } = peer([
      [event("1", "submitted", "task"), cut],
      [event("1", "submitted", "task"), event("2", "input-required"), event("3", "working")],
    ]);
    expect(await collect(handler)).toEqual({ seen: ["1", "2"] });
  });

  it("gives up after consecutive failed attempts, with the original error", async () => {
    const { handler, asked } = peer([[event("1", "submitted", "task"), cut], [cut], [cut], [event("2", "completed")]]);
    expect(await collect(handler, { tries: 2 })).toEqual({ seen: ["1"], thrown: cut });
    expect(asked).toHaveLength(3);
  });

  it("does not resume a stream without events, an error answer, or a peer without resumption", async () => {
    const never = peer([[cut], [event("1", "completed", "task")]]);
    expect(await collect(never.handler)).toEqual({ seen: [], thrown: cut });
    const no = new AgentError("forbidden", "no");
    const refused = peer([[event("1", "submitted", "task"), no], [event("2", "completed")]]);
    expect(await collect(refused.handler)).toEqual({ seen: ["1"], thrown: no });
    const cannot = peer([[event("1", "submitted", "task"), cut], [event("2", "completed")]]);
    expect(await collect(cannot.handler, { canResume: () => false })).toEqual({ seen: ["1"], thrown: cut });
  });

  it("stops waiting when the caller does", async () => {
    const stopped = new AgentError("cancelled", "enough");
    const { handler, asked } = peer([[event("1", "submitted", "task"), cut], [event("2", "completed")]]);
    const clock = { ...fakeClock(), sleep: () => Promise.reject(stopped) };
    expect(await collect(handler, { clock })).toEqual({ seen: ["1"], thrown: stopped });
    expect(asked).toHaveLength(1);
  });

  it("drops nothing from an uninterrupted stream, whatever its cursors", async () => {
    // The id of a server-sent event stays in force for those that follow without one of their own.
    const sticky = peer([
      [event("1", "submitted", "task"), event("1", "working"), event("1", "working"), event("1", "completed")],
    ]);
    expect(await collect(sticky.handler)).toEqual({ seen: ["1", "1", "1", "1"] });
  });

  it("does not resume after an event without its own cursor: it would be delivered twice", async () => {
    const unmarked = { ...event("", "working"), cursor: undefined };
    const bare = peer([[event("1", "submitted", "task"), unmarked, cut], [event("2", "completed")]]);
    expect(await collect(bare.handler)).toEqual({ seen: ["1", "undefined"], thrown: cut });
    const sticky = peer([[event("1", "submitted", "task"), event("1", "working"), event("1", "working"), cut]]);
    expect(await collect(sticky.handler)).toEqual({ seen: ["1", "1", "1"], thrown: cut });
    const marked = peer([[event("1", "submitted", "task"), unmarked, event("2", "working"), cut], [event("3", "completed")]]);
    expect(await collect(marked.handler)).toEqual({ seen: ["1", "undefined", "2", "3"] });
  });

  it("does not go on for ever with a peer that only repeats itself", async () => {
    const again = [event("1", "submitted", "task"), cut];
    const { handler, asked } = peer(Array.from({ length: 20 }, () => again));
    expect(await collect(handler, { tries: 3 })).toEqual({ seen: ["1"], thrown: cut });
    expect(asked).toHaveLength(4);
  });

  it("stops when its reader leaves during the wait", async () => {
    const { handler, asked } = peer([[event("1", "submitted", "task"), cut], [event("2", "completed")]]);
    let wake = (): void => undefined;
    let reply: AsyncIterator<AgentEvent> | undefined;
    const waits = new Promise<void>((waiting) => {
      const sleep = (): Promise<void> => {
        waiting();
        return new Promise((resolve) => {
          wake = resolve;
        });
      };
      const layer = resumeStreams({ canResume: () => true, clock: { ...fakeClock(), sleep }, random: () => 0.5 });
      reply = (layer(handler)(send, startCall()) as AsyncIterable<AgentEvent>)[Symbol.asyncIterator]();
    });
    await reply?.next();
    const next = reply?.next();
    await waits;
    await reply?.return?.();
    wake();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(asked).toHaveLength(1);
  });
});
