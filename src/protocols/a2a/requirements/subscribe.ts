import { demand, show, skip } from "../../check.js";
import { isOver, type Observed } from "./forms.js";
import { call, collect, resultOf, runningTask, send, stateOf, stream, type WireRequirement } from "./probe.js";
import { demandError } from "./wire-errors.js";

const BOTH = ["1.0", "0.3"] as const;

/** SubscribeToTask: subscribing to a running task. */
export const subscribeRequirements: readonly WireRequirement[] = [
  {
    key: "subscribe:snapshot",
    capability: "streaming",
    needs: ["streaming", "commands"],
    source: "A2A 1.0 §3.1.6",
    behaviour: "A subscription begins with the current task and ends when the task is finished.",
    async run(probe) {
      const { id } = await runningTask(probe);
      const subscription = await stream(probe, "SubscribeToTask", { id });
      const first = await subscription.events.next();
      resultOf(await call(probe, "CancelTask", { id }));
      demand(
        first.done !== true && first.value.kind === "task" && first.value.task.id === id,
        `the first event is ${show(first.value)}`,
      );
      const events = await collect(subscription);
      demand(stateOf(events.at(-1)) === "canceled", `the stream ended ${stateOf(events.at(-1))}`);
    },
  },
  {
    key: "subscribe:resumes",
    capability: "streaming",
    versions: ["0.3"],
    needs: ["streaming", "commands"],
    source: "A2A 0.3 §7.9",
    behaviour: "A resubscription delivers the end of the task.",
    async run(probe) {
      const { id } = await runningTask(probe);
      const subscription = await stream(probe, "SubscribeToTask", { id });
      const seeing = collect(subscription);
      // A stream error is reported below; if the cancellation fails first, it is ignored.
      seeing.catch(() => undefined);
      resultOf(await call(probe, "CancelTask", { id }));
      const events = await seeing;
      demand(stateOf(events.at(-1)) === "canceled", `the stream ended ${stateOf(events.at(-1))}`);
    },
  },
  {
    key: "subscribe:all-see-all",
    capability: "streaming",
    needs: ["streaming", "commands"],
    source: "A2A 1.0 §3.5.2",
    behaviour: "Two subscribers of one task receive the same events, and one disconnecting does not affect the other.",
    async run(probe) {
      const { id } = await runningTask(probe);
      const all = await Promise.all([1, 2, 3].map(() => stream(probe, "SubscribeToTask", { id })));
      for (const each of all) demand((await each.events.next()).done !== true, "a subscription ended at once");
      all[2]?.close();
      resultOf(await call(probe, "CancelTask", { id }));
      const [one, two] = await Promise.all(all.slice(0, 2).map((each) => collect(each)));
      const words = (events: readonly Observed[] = []): string =>
        events.map((observed) => `${observed.kind} ${stateOf(observed) ?? ""}`).join(", ");
      demand(words(one) !== "" && words(one) === words(two), `one saw ${words(one)}; the other ${words(two)}`);
    },
  },
  {
    key: "subscribe:unknown",
    capability: "streaming",
    versions: BOTH,
    needs: ["streaming"],
    source: "A2A 1.0 §3.1.6",
    behaviour: "Subscribing to a task that does not exist is TaskNotFound.",
    async run(probe) {
      const refused = await stream(probe, "SubscribeToTask", { id: probe.subject.newId() });
      // A 0.3 client requires a stream here, even for errors.
      if (probe.wire.version === "0.3" && refused.plain === undefined) return refused.close();
      demandError(refused.plain?.error, ["TASK_NOT_FOUND"], refused.plain?.result ?? "a stream");
    },
  },
  {
    key: "subscribe:finished",
    capability: "streaming",
    needs: ["streaming"],
    source: "A2A 1.0 §3.1.6",
    behaviour: "Subscribing to a finished task is UnsupportedOperation.",
    async run(probe) {
      const observed = await send(probe, { text: probe.card.commands ? "conform: task" : "hello" });
      if (observed.kind !== "task" || !isOver(observed.task.state)) return skip("the agent gave no finished task");
      const refused = await stream(probe, "SubscribeToTask", { id: String(observed.task.id) });
      refused.close();
      demandError(refused.plain?.error, ["UNSUPPORTED_OPERATION"], refused.plain?.result ?? "a stream");
    },
  },
];
