import { expect, test } from "vitest";
import { BurstSource } from "../../test/helpers/burst-source.js";
import { AgentError, type AgentEvent, TAKE_READY } from "../envelope/index.js";
import { StreamWithFallback } from "./fallback.js";

const event = (state: "working" | "completed"): AgentEvent => ({
  kind: "status",
  taskId: "t",
  contextId: "c",
  status: { state, at: 0 },
});

test("events of the stream that replaced another are taken together, and none before the first", async () => {
  const failed = new BurstSource<AgentEvent>(new AgentError("unavailable", "gone", { sent: "no" }));
  const other = new BurstSource<AgentEvent>(event("working"), event("working"), event("completed"));
  const events = new StreamWithFallback(failed, () => other);
  expect(events[TAKE_READY]()).toBeUndefined();
  expect(await events.next()).toEqual({ done: false, value: event("working") });
  expect([events[TAKE_READY](), events[TAKE_READY](), events[TAKE_READY]()]).toEqual([
    event("working"),
    event("completed"),
    undefined,
  ]);
});
