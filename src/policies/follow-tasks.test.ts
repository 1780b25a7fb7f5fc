import { describe, expect, it } from "vitest";
import { fakeClock } from "../../test/helpers/clock.js";
import {
  AgentError,
  type AgentEvent,
  CancelSource,
  type Handler,
  newEnvelope,
  type Operation,
  type State,
  startCall,
} from "../envelope/index.js";
import { followsItself, followTasks } from "./follow-tasks.js";

const envelope = newEnvelope({ content: "go", src: "a", dst: "b", context: {} }, { now: () => 1, newId: () => "m" });
const send: Operation = { kind: "send", delivery: "answer", task: "auto", envelope, historyLength: 2 };

function task(state: State, text = ""): AgentEvent {
  const artifacts = text === "" ? [] : [{ id: "a", parts: [{ kind: "text" as const, text }] }];
  const status = { state, at: 1 } as const;
  return { kind: "task", task: { id: "t", contextId: "c", status, artifacts, history: [] } };
}

function status(state: State): AgentEvent {
  return { kind: "status", taskId: "t", contextId: "c", status: { state, at: 1 } as const };
}

type Script = AgentEvent | AgentError | readonly (AgentEvent | AgentError)[];

/** A peer that plays one script per call: an event or an error, or a list of them as a stream. */
function peer(scripts: readonly Script[], canStream = false) {
  const asked: Operation[] = [];
  const clock = fakeClock();
  const play: Handler = (operation) => {
    const script = scripts[asked.length] ?? new AgentError("internal", "asked too often");
    asked.push(operation);
    if ("length" in script)
      return (async function* () {
        for (const step of script) {
          if (step instanceof AgentError) throw step;
          yield step;
        }
      })();
    return script instanceof AgentError ? Promise.reject(script) : Promise.resolve(script);
  };
  const handler = followTasks({ canStream: () => canStream, clock })(play);
  return { asked, clock, handler, kinds: () => asked.map(({ kind }) => kind) };
}

const answer = (reply: ReturnType<Handler>): Promise<AgentEvent> => reply as Promise<AgentEvent>; // none of these sends streams

describe("followTasks", () => {
  it.each(["completed", "failed", "input-required", "auth-required", "unknown"] as const)(
    "returns a %s task at once",
    async (state) => {
      const { handler, kinds } = peer([task(state)]);
      expect(await answer(handler(send, startCall()))).toEqual(task(state));
      expect(kinds()).toEqual(["send"]);
    },
  );

  it("polls with growing intervals until the task ends, with the requested history", async () => {
    const { handler, asked, clock } = peer([task("submitted"), task("submitted"), task("working"), task("completed", "yes")]);
    const reply = answer(handler(send, startCall()));
    await clock.advance(0);
    await clock.advance(49);
    expect(asked).toHaveLength(2);
    await clock.advance(1);
    expect(asked).toHaveLength(3);
    await clock.advance(99);
    expect(asked).toHaveLength(3);
    await clock.advance(1);
    expect(await reply).toEqual(task("completed", "yes"));
    expect(asked.at(-1)).toEqual({ kind: "task.get", taskId: "t", historyLength: 2 });
  });

  it("subscribes where the peer streams, and reads the stored task at the end", async () => {
    const { handler, kinds } = peer([task("working"), [task("working"), status("completed")], task("completed", "yes")], true);
    expect(await answer(handler(send, startCall()))).toEqual(task("completed", "yes"));
    expect(kinds()).toEqual(["send", "task.subscribe", "task.get"]);
  });

  it("uses what the stream showed where the peer stores the task no longer", async () => {
    const gone = new AgentError("task_not_found", "gone");
    const artifact = { id: "a", parts: [{ kind: "text" as const, text: "yes" }] };
    const chunk: AgentEvent = { kind: "artifact", taskId: "t", contextId: "c", artifact, append: false, last: true };
    const { handler } = peer([task("working"), [chunk, status("completed")], gone], true);
    expect(await answer(handler(send, startCall()))).toEqual(task("completed", "yes"));
  });

  it("polls where subscribing fails", async () => {
    const { handler, kinds } = peer([task("working"), [new AgentError("unsupported", "no")], task("input-required")], true);
    expect(await answer(handler(send, startCall()))).toEqual(task("input-required"));
    expect(kinds()).toEqual(["send", "task.subscribe", "task.get"]);
  });

  it("continues after a poll that failed for a moment, and names the task where it gives up", async () => {
    const busy = new AgentError("unavailable", "busy", { sent: "no" });
    const { handler, clock } = peer([task("working"), busy, task("completed")]);
    const reply = answer(handler(send, startCall()));
    await clock.advance(0);
    await clock.advance(50);
    expect(await reply).toEqual(task("completed"));

    const down = peer([task("working"), busy, busy, busy, busy, busy]);
    const failed = answer(down.handler(send, startCall())).catch((thrown: unknown) => thrown);
    await down.clock.advance(0);
    await down.clock.advance(10_000);
    // `sent` keeps a retry from sending the message twice.
    expect(await failed).toMatchObject({ code: "unavailable", facts: { sent: "maybe", detail: { taskId: "t" } } });
  });

  it("ends with the cancellation of the call", async () => {
    const { handler, clock, asked } = peer([task("working"), task("working")]);
    const cancel = new CancelSource();
    const reply = answer(handler(send, startCall({ cancel }))).catch((thrown: unknown) => thrown);
    await clock.advance(1);
    cancel.cancel(new AgentError("deadline", "too late"));
    expect(await reply).toMatchObject({ code: "deadline" });
    expect(asked).toHaveLength(2);
  });

  it("leaves other deliveries, and callers that follow themselves, alone", async () => {
    const { handler, kinds } = peer([task("submitted"), task("submitted")]);
    await answer(handler({ ...send, delivery: "accepted" }, startCall()));
    const call = startCall();
    followsItself.put(call, true);
    expect(await answer(handler(send, call))).toEqual(task("submitted"));
    expect(kinds()).toEqual(["send", "send"]);
  });
});
