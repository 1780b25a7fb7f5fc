import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { authoredRequests, type Layer, type Part, type Task } from "../../src/envelope/index.js";
import { agent, bridge, type RemoteAgent, serve } from "../../src/index.js";
import { readAuthor, signTaskRequest, type TaskOperation, writeAuthor } from "../../src/protocols/sage/message/task-request.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { freePort } from "../anp/directory.js";
import { PROTOCOLS, SageWorld, SETTINGS, UNSEALED } from "./world.js";

/** Tasks of messages through a gateway belong to the authors of the messages, not to the gateway that brings them. */

let world: SageWorld;
beforeEach(() => {
  world = new SageWorld();
});
afterEach(() => world.close());

/** What is at stake: an agent with tasks, a gateway before it, a caller, and the gateway's operator as an attacker. */
interface Scene {
  readonly ann: LocalIdentity;
  readonly middle: LocalIdentity;
  /** Another gateway that the agent knows. It has no session there. */
  readonly second: LocalIdentity;
  /** The DID of the agent. */
  readonly desk: string;
  /** Calls the agent through the gateway. */
  readonly peer: RemoteAgent;
  /** The address of the gateway. */
  readonly url: string;
  /** Ids of the agent's tasks, and who they belong to, in order. */
  readonly tasks: { readonly id: string; readonly owner: string }[];
}

interface SceneOptions {
  readonly mode: "relay" | "adopt";
  readonly seal: boolean;
  readonly layers?: readonly Layer[];
}

async function scene({ mode, seal, layers = [] }: SceneOptions): Promise<Scene> {
  const [ann, middle, second] = [await world.register(), await world.register(), await world.register()];
  const tasks: Scene["tasks"] = [];
  const clerk = agent({
    name: "desk",
    description: "works on tasks",
    async *handle(message, task) {
      yield task.working("busy");
      tasks.push({ id: task.id ?? "", owner: task.owner });
      if (message.text === "unclear") return task.ask("which one?");
      yield task.artifact(`copy of ${message.text}`);
      return task.complete(`done ${message.text}`);
    },
  });
  const desk = await world.serve(clerk, { settings: { sage: { ...SETTINGS.sage, relays: `${middle.did},${second.did}` } } });
  const port = await freePort();
  const upstream = { protocols: PROTOCOLS, pin: "sage", identity: middle, settings: SETTINGS, records: world.store.records };
  const bridged = await bridge(desk.identity.did, { ...upstream, bridge: { mode, name: "desk" } });
  world.closing(() => bridged.close());
  const server = await serve(bridged, {
    ...{ protocols: PROTOCOLS, port, identity: middle, store: world.store, layers },
    settings: { sage: { ...SETTINGS.sage, passOn: true } },
  });
  world.closing(() => server.close());
  const settings = { sage: { ...SETTINGS.sage, peer: desk.identity.did, gateway: middle.did, seal } };
  const url = `http://127.0.0.1:${port}`;
  const peer = await world.connect(url, ann, { pin: "sage", resume: false, settings });
  return { ann, middle, second, desk: desk.identity.did, peer, url, tasks };
}

const textOf = (parts: readonly Part[] = []): string => parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
const said = ({ status, artifacts }: Task) => [textOf(status.message?.content), ...artifacts.map(({ parts }) => textOf(parts))];

async function started(peer: RemoteAgent, text: string): Promise<string> {
  const event = await peer.send(text);
  if (event.kind !== "task") throw new Error(`expected a task, got a ${event.kind}`);
  return event.task.id;
}

describe.each([
  ["relay", true],
  ["relay", false],
  ["adopt", true],
  ["adopt", false],
] as const)("through a gateway in %s mode (sealed: %s)", (mode, seal) => {
  test("a task belongs to the author of its message", async () => {
    const { ann, peer, tasks } = await scene({ mode, seal });
    await started(peer, "secret");
    expect(tasks.map(({ owner }) => owner)).toEqual([`did:${ann.did}`]);
  });

  test("the gateway asks the agent for the task in its own name: there is none", async () => {
    const { middle, desk, peer, tasks } = await scene({ mode, seal });
    await started(peer, "unclear");
    const id = tasks[0]?.id ?? "";
    const attacker = await world.connect(desk, middle);
    const notFound = { code: "task_not_found" };
    await expect(attacker.getTask(id)).rejects.toMatchObject(notFound);
    await expect(attacker.cancelTask(id)).rejects.toMatchObject(notFound);
    await expect(attacker.subscribe(id)[Symbol.asyncIterator]().next()).rejects.toMatchObject(notFound);
    expect((await attacker.listTasks()).tasks).toEqual([]);
  });

  test("the author reads its task through the gateway", async () => {
    const { peer } = await scene({ mode, seal });
    const id = await started(peer, "secret");
    const task = await peer.getTask(id);
    expect(task.id).toBe(id);
    expect(task.status.state).toBe("completed");
    expect(said(task)).toEqual(["done secret", "copy of secret"]);
  });

  test("the author cancels its task through the gateway", async () => {
    const { peer, tasks } = await scene({ mode, seal });
    const id = await started(peer, "unclear");
    const task = await peer.cancelTask(id);
    expect([task.id, task.status.state]).toEqual([id, "canceled"]);
    expect((await world.store.facts(tasks[0]?.id ?? "", tasks[0]?.owner ?? ""))?.state).toBe("canceled");
    expect((await peer.getTask(id)).status.state).toBe("canceled");
  });

  test("the author subscribes to its task through the gateway", async () => {
    const { peer } = await scene({ mode, seal });
    const id = await started(peer, "unclear");
    for await (const event of peer.subscribe(id)) {
      expect(event.kind === "task" && [event.task.id, event.task.status.state]).toEqual([id, "input-required"]);
      break;
    }
  });

  test("another caller of the gateway does not get it", async () => {
    const { desk, middle, peer, url } = await scene({ mode, seal });
    const id = await started(peer, "secret");
    const settings = { sage: { ...SETTINGS.sage, peer: desk, gateway: middle.did, seal } };
    const other = await world.connect(url, await world.register(), { pin: "sage", resume: false, settings });
    await expect(other.getTask(id)).rejects.toMatchObject({ code: "task_not_found" });
  });
});

describe("a gateway that uses a request of the author for more", () => {
  /** The header of the first request about a task, as the gateway got it. */
  async function captured(): Promise<Scene & { readonly id: string; readonly header: string }> {
    let header = "";
    const listening: Layer = (next) => (operation, call) => {
      const authored = authoredRequests.of(call);
      if (authored !== undefined) header ||= writeAuthor(authored);
      return next(operation, call);
    };
    const made = await scene({ mode: "relay", seal: true, layers: [listening] });
    const id = await started(made.peer, "unclear");
    await made.peer.getTask(id);
    expect(header).not.toBe("");
    return { ...made, id, header };
  }

  /** The gateway sends a request of its own with the header. */
  async function sent({ desk, middle }: Scene, operation: TaskOperation, header: string): Promise<unknown> {
    const adding: Layer = (next) => (asked, call) => {
      const derived = call.derive({});
      authoredRequests.put(derived, readAuthor(header));
      return next(asked, derived);
    };
    const attacker = await world.connect(desk, middle, { layers: [adding], settings: UNSEALED });
    switch (operation.kind) {
      case "task.get":
        return attacker.getTask(operation.taskId);
      case "task.cancel":
        return attacker.cancelTask(operation.taskId);
      default:
        return attacker.subscribe(operation.taskId)[Symbol.asyncIterator]().next();
    }
  }

  test("sent again: refused", async () => {
    const made = await captured();
    await expect(sent(made, { kind: "task.get", taskId: made.id }, made.header)).rejects.toMatchObject({
      facts: { detail: { error: "ErrReplayAttack" } },
    });
    expect(world.log.reasons().join()).toContain("(sig.replay)");
  });

  test("for another operation: refused", async () => {
    const made = await captured();
    await expect(sent(made, { kind: "task.cancel", taskId: made.id }, made.header)).rejects.toMatchObject({
      facts: { detail: { error: "ErrInvalidSignature" } },
    });
    expect(world.log.reasons().join()).toContain("(sig.binding)");
  });

  test("for another task of the author: refused", async () => {
    const made = await captured();
    const other = await started(made.peer, "secret");
    await expect(sent(made, { kind: "task.get", taskId: other }, made.header)).rejects.toMatchObject({
      facts: { detail: { error: "ErrInvalidSignature" } },
    });
  });

  test("with another task in what is signed: refused", async () => {
    const made = await captured();
    const other = await started(made.peer, "secret");
    const [signed = "", signature = ""] = made.header.split(".");
    const text = Buffer.from(signed, "base64url").toString().replace(made.id, other);
    const altered = `${Buffer.from(text).toString("base64url")}.${signature}`;
    await expect(sent(made, { kind: "task.get", taskId: other }, altered)).rejects.toMatchObject({
      facts: { detail: { error: "ErrInvalidSignature" } },
    });
    expect(world.log.reasons().join()).toContain("(sig.bad)");
  });

  test("signed by a gateway itself: there is no such task", async () => {
    const made = await scene({ mode: "relay", seal: false });
    await started(made.peer, "secret");
    const taskId = made.tasks[0]?.id ?? "";
    const request = { operation: "task.get", taskId, session: undefined } as const;
    const author = { identity: made.second, now: Date.now, newId: () => crypto.randomUUID() };
    const header = writeAuthor(await signTaskRequest(request, made.desk, author));
    const asSecond = { ...made, middle: made.second };
    await expect(sent(asSecond, { kind: "task.get", taskId }, header)).rejects.toMatchObject({ code: "task_not_found" });
  });

  test("by somebody that the agent does not know as a gateway: refused", async () => {
    const made = await captured();
    const stranger = { ...made, middle: await world.register() };
    await expect(sent(stranger, { kind: "task.get", taskId: made.id }, made.header)).rejects.toMatchObject({
      facts: { detail: { error: "ErrInvalidSignature" } },
    });
  });

  test("the signed request as a message: refused", async () => {
    const { ann, desk } = await scene({ mode: "relay", seal: false });
    const peer = await world.connect(desk, ann, { settings: UNSEALED });
    await expect(peer.ask("hello", { intent: "urn:koine:sage:1:task" })).rejects.toMatchObject({
      facts: { detail: { error: "ErrInvalidMessage" } },
    });
  });
});

test("a gateway that adds a webhook to a message: refused", async () => {
  const adding: Layer = (next) => (operation, call) =>
    operation.kind === "send" && operation.envelope.intent === ""
      ? next({ ...operation, push: { taskId: "", id: "hook", url: "https://gateway.example/hook" } }, call)
      : next(operation, call);
  const { peer, tasks } = await scene({ mode: "relay", seal: true, layers: [adding] });
  await expect(peer.send("secret")).rejects.toMatchObject({ code: "downgrade_refused" });
  expect(tasks).toEqual([]);
});
