import { describe, expect, test } from "vitest";
import { brief, codeOf, principal, settle, TestRuntime, taskOf } from "../../test/helpers/tasks.js";
import { AgentError, type PushConfig, startCall } from "../envelope/index.js";
import type { PushPort } from "./push-port.js";

const SECRET: Omit<PushConfig, "taskId" | "id"> = {
  url: "https://hooks.example/1",
  token: "t0ken",
  authentication: { scheme: "Bearer", credentials: "s3cret" },
};
const SHOWN = { url: "https://hooks.example/1", authentication: { scheme: "Bearer" } };

const WAITING = { state: "waiting", seq: 3, failures: 0 };

/** A port that accepts everything and says what it was told. */
function recording() {
  const told: string[] = [];
  const push: PushPort = {
    async send({ config, event }) {
      told.push(`${config.id} ${brief(event)}`);
      return { accepted: true };
    },
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

  test("store secrets and never return them", async () => {
    const at = new TestRuntime({ echo: () => "x" }, recording());
    const { id: taskId } = await at.task("x");
    const set = await at.one({ kind: "push.set", config: { taskId, id: "p", ...SECRET } });
    const got = await at.one({ kind: "push.get", taskId, id: "p" });
    const listed = await at.one({ kind: "push.list", taskId });
    expect(set).toEqual({ kind: "push", config: { taskId, id: "p", ...SHOWN } });
    const shown = { taskId, id: "p", ...SHOWN, delivery: WAITING };
    expect(got).toEqual({ kind: "push", config: shown });
    expect(listed).toEqual({ kind: "pushes", configs: [shown], nextPageToken: "" });
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

  test("treat a missing task and another owner's alike", async () => {
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

  test("reject invalid webhooks, name the member, and repeat no secret", async () => {
    const allows = async (): Promise<void> => {
      throw new AgentError("invalid_message", "url: no", { field: "url" });
    };
    const at = new TestRuntime({ echo: () => "x" }, recording());
    const strict = new TestRuntime({ echo: () => "x" }, { push: { ...recording().push, allows } });
    const { id: taskId } = await at.task("x");
    const fieldOf = async (config: Partial<PushConfig>, where = at): Promise<unknown> => {
      const set = where.one({ kind: "push.set", config: { taskId, id: "p", url: "https://x.example", ...config } });
      const error = await set.catch((thrown: unknown) => thrown);
      expect(String(error)).not.toContain("s3cret");
      return error instanceof AgentError ? error.facts.field : "accepted";
    };
    expect(await fieldOf({ url: "ftp://x.example" })).toBe("url");
    expect(await fieldOf({ url: "/relative" })).toBe("url");
    expect(await fieldOf({ url: "https://me:s3cret@x.example" })).toBe("url");
    expect(await fieldOf({ url: `https://x.example/${"a".repeat(2_048)}` })).toBe("url");
    expect(await fieldOf({ id: "i".repeat(257) })).toBe("id");
    expect(await fieldOf({ token: "s3cret\r\nX-Evil: 1" })).toBe("token");
    expect(await fieldOf({ authentication: { scheme: "Bearer s3cret" } })).toBe("authentication.scheme");
    expect(await fieldOf({ authentication: { scheme: "Bearer", credentials: "s3cret\u0000" } })).toBe(
      "authentication.credentials",
    );
    expect(await fieldOf({})).toBe("accepted");
    expect(await fieldOf({}, strict)).toBe("url");
    expect(await codeOf(strict.send("x", { push: { taskId: "", id: "p", url: "https://x.example" } }))).toBe("invalid_message");
    expect(strict.runtime.stats().runningTasks).toBe(0);
  });

  test("keep the protocol they were registered with, and ignore delivery state from the caller", async () => {
    const at = new TestRuntime({ echo: () => "x" }, recording());
    const { id: taskId } = await at.task("x");
    const delivery = { state: "gave_up", seq: 99, failures: 99 } as const;
    const via = { protocol: "toy", version: "7", binding: "wire" };
    const owner = startCall().caller;
    const config = { taskId, id: "p", url: "https://x.example", delivery };
    await at.one({ kind: "push.set", config }, startCall({ via, caller: owner }));
    const [kept] = (await at.store.pushes(taskId, "self:self")) ?? [];
    expect(kept).toMatchObject({ via: { protocol: "toy", version: "7" }, delivery: { state: "waiting", failures: 0 } });
  });
});

describe("push delivery", () => {
  test("a send with a configuration creates a task and notifies every entry in order, over all turns", async () => {
    const { told, push } = recording();
    const at = new TestRuntime({ ask: (_message, task) => (task.turn === 1 ? task.ask("?") : "done") }, { push });
    const task = taskOf(await at.send("x", { push: { taskId: "", id: "p", url: "https://x.example" } }));
    await settle();
    expect(told.splice(0)).toEqual(["p task submitted", "p status input-required"]);
    await at.send("y", { context: { taskId: task.id }, push: { taskId: "", id: "q", url: "https://y.example" } });
    await settle();
    const later = ["status working", "artifact result", "status completed"];
    expect(told.filter((one) => one.startsWith("p"))).toEqual(later.map((one) => `p ${one}`));
    expect(told.filter((one) => one.startsWith("q"))).toEqual(later.map((one) => `q ${one}`));
  });

  test("notifies of a cancel without a run", async () => {
    const { told, push } = recording();
    const at = new TestRuntime({ ask: (_message, task) => task.ask("?") }, { push });
    const { id } = taskOf(await at.send("x", { push: { taskId: "", id: "p", url: "https://x.example" } }));
    await at.one({ kind: "task.cancel", taskId: id });
    await settle();
    expect(told).toEqual(["p task submitted", "p status input-required", "p status canceled"]);
  });
});
