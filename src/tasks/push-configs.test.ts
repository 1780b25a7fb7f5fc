import { describe, expect, test } from "vitest";
import { type PushConfig, startCall } from "../envelope/index.js";
import { brief, codeOf, principal, TestRuntime, taskOf } from "./testing.js";

const SECRET: Omit<PushConfig, "taskId" | "id"> = {
  url: "https://hooks.example/1",
  token: "t0ken",
  authentication: { scheme: "Bearer", credentials: "s3cret" },
};
const SHOWN = { url: "https://hooks.example/1", authentication: { scheme: "Bearer" } };

function recording() {
  const told: string[] = [];
  const push = {
    deliver: (config: PushConfig, event: Parameters<typeof brief>[0]) => void told.push(`${config.id} ${brief(event)}`),
  };
  return { told, push };
}

describe("push operations", () => {
  test("are all unsupported without a port, on a send too", async () => {
    const at = new TestRuntime({ echo: () => "x" });
    const { id: taskId } = await at.task("x");
    const codes = [
      await codeOf(at.one({ kind: "push.set", config: { taskId, id: "p", url: "https://x.example" } })),
      await codeOf(at.one({ kind: "push.get", taskId, id: "p" })),
      await codeOf(at.one({ kind: "push.list", taskId })),
      await codeOf(at.one({ kind: "push.delete", taskId, id: "p" })),
      await codeOf(at.send("x", { push: { taskId: "", id: "p", url: "https://x.example" } })),
    ];
    expect(new Set(codes)).toEqual(new Set(["push_unsupported"]));
  });

  test("keep secrets and never give them back", async () => {
    const at = new TestRuntime({ echo: () => "x" }, recording());
    const { id: taskId } = await at.task("x");
    const set = await at.one({ kind: "push.set", config: { taskId, id: "p", ...SECRET } });
    const got = await at.one({ kind: "push.get", taskId, id: "p" });
    const listed = await at.one({ kind: "push.list", taskId });
    expect(set).toEqual({ kind: "push", config: { taskId, id: "p", ...SHOWN } });
    expect(got).toEqual(set);
    expect(listed).toEqual({ kind: "pushes", configs: [{ taskId, id: "p", ...SHOWN }], nextPageToken: "" });
    expect(await at.store.pushes(taskId, "self:self")).toMatchObject([
      { token: "t0ken", authentication: { credentials: "s3cret" } },
    ]);
  });

  test("mint an id, replace by id, delete without asking whether it was there", async () => {
    const at = new TestRuntime({ echo: () => "x" }, recording());
    const { id: taskId } = await at.task("x");
    const minted = await at.one({ kind: "push.set", config: { taskId, id: "", url: "https://a.example" } });
    expect(minted).toMatchObject({ config: { id: expect.stringMatching(/^id-/) } });
    await at.one({ kind: "push.set", config: { taskId, id: "p", url: "https://a.example" } });
    await at.one({ kind: "push.set", config: { taskId, id: "p", url: "https://b.example" } });
    expect(await at.one({ kind: "push.list", taskId })).toMatchObject({ configs: [{}, { id: "p", url: "https://b.example" }] });
    expect(await at.one({ kind: "push.delete", taskId, id: "p" })).toEqual({ kind: "done" });
    expect(await at.one({ kind: "push.delete", taskId, id: "p" })).toEqual({ kind: "done" });
    expect(await codeOf(at.one({ kind: "push.get", taskId, id: "p" }))).toBe("task_not_found");
  });

  test("treat a missing task and somebody else's alike", async () => {
    const at = new TestRuntime({ echo: () => "x" }, recording());
    const { id } = await at.task("x");
    const bob = startCall({ caller: principal("bob") });
    const codes = [];
    for (const taskId of [id, "none"]) {
      codes.push(
        await codeOf(at.one({ kind: "push.set", config: { taskId, id: "p", url: "https://x.example" } }, bob)),
        await codeOf(at.one({ kind: "push.get", taskId, id: "p" }, bob)),
        await codeOf(at.one({ kind: "push.list", taskId }, bob)),
        await codeOf(at.one({ kind: "push.delete", taskId, id: "p" }, bob)),
      );
    }
    expect(codes).toEqual(Array.from({ length: 8 }, () => "task_not_found"));
  });

  test("have a limit per task, and one page", async () => {
    const at = new TestRuntime({ echo: () => "x" }, { ...recording(), limits: { pushConfigsPerTask: 1 } });
    const { id: taskId } = await at.task("x");
    await at.one({ kind: "push.set", config: { taskId, id: "p", url: "https://x.example" } });
    expect(await codeOf(at.one({ kind: "push.set", config: { taskId, id: "q", url: "https://x.example" } }))).toBe("too_large");
    expect(await codeOf(at.one({ kind: "push.list", taskId, pageToken: "x" }))).toBe("invalid_message");
  });
});

describe("push delivery", () => {
  test("a send with a configuration makes a task and tells every entry in order, all turns", async () => {
    const { told, push } = recording();
    const at = new TestRuntime({ ask: (_message, task) => (task.turn === 1 ? task.ask("?") : "done") }, { push });
    const task = taskOf(await at.send("x", { push: { taskId: "", id: "p", url: "https://x.example" } }));
    expect(told).toEqual(["p status input-required"]);
    await at.send("y", { context: { taskId: task.id }, push: { taskId: "", id: "q", url: "https://y.example" } });
    expect(told.slice(1)).toEqual([
      "p status working",
      "q status working",
      "p artifact result",
      "q artifact result",
      "p status completed",
      "q status completed",
    ]);
  });

  test("tells of a cancel that nobody ran", async () => {
    const { told, push } = recording();
    const at = new TestRuntime({ ask: (_message, task) => task.ask("?") }, { push });
    const { id } = taskOf(await at.send("x", { push: { taskId: "", id: "p", url: "https://x.example" } }));
    await at.one({ kind: "task.cancel", taskId: id });
    expect(told).toEqual(["p status input-required", "p status canceled"]);
  });
});
