import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import {
  type AgentFunction,
  agent,
  bridge,
  connect,
  DiscoveryCache,
  openSqliteStore,
  type RemoteAgent,
  serve,
  type Task,
} from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";
import { createTelemetry } from "../../src/public/telemetry.js";
import { createInspector } from "../../src/telemetry/capture/index.js";

/** Callers' tokens at rest: sealed with their tasks, and in no other place. */

const ANN = "anns-own-token-0123456789";
const BOB = "bobs-own-token-0123456789";
const SECRET = new TextEncoder().encode("a secret that both gateways have");
const CALLERS = bearerTokens(
  new Map([
    ["ann", ANN],
    ["bob", BOB],
  ]),
);
const folder = mkdtempSync(join(tmpdir(), "koine-credentials-"));
afterAll(() => rmSync(folder, { recursive: true }));

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

/** An agent that works until it is released or cancelled, asks one question, or names its caller. */
function createWorker() {
  let letGo = (): void => undefined;
  let stopped = (): void => undefined;
  const going = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const wasStopped = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  const handle: AgentFunction = async function* (message, task) {
    if (message.text === "ask") return task.ask("which one?");
    if (message.text !== "wait") return `done for ${task.caller}`;
    task.signal.addEventListener("abort", stopped);
    yield "begun";
    await going;
    return `done for ${task.caller}`;
  };
  return { agent: agent({ name: "worker", description: "works", handle }), letGo, wasStopped };
}

interface Started {
  readonly url: string;
  close(): Promise<unknown>;
}

async function startGateway(upstream: string, file: string, secret: Uint8Array): Promise<Started> {
  const bridged = await bridge(upstream, {
    discoveryCache: new DiscoveryCache(),
    bridge: { name: "worker", secret, upstreamCredentials: "passthrough" },
  });
  const store = await openSqliteStore({ file, now: Date.now });
  const server = await serve(bridged, { admission: CALLERS, store, taskLimits: { leaseMs: 500 }, limits: { drainMs: 20 } });
  return {
    url: server.url,
    close: async () => {
      await server.close();
      await bridged.close();
      await store.close?.();
    },
  };
}

async function callerOf(url: string, bearer: string): Promise<RemoteAgent> {
  return opened(await connect(url, { credentials: { bearer }, discoveryCache: new DiscoveryCache() }));
}

async function begun(peer: RemoteAgent, text: string): Promise<string> {
  const event = await peer.start(text);
  if (event.kind !== "task") throw new Error("a task was expected");
  return event.task.id;
}

async function endOf(peer: RemoteAgent, taskId: string): Promise<Task> {
  for await (const event of peer.subscribe(taskId)) {
    if (event.kind === "status" && ["completed", "failed", "canceled"].includes(event.status.state)) break;
  }
  return peer.getTask(taskId);
}

/** Waits until the gateway has stored the upstream's id of the task. */
async function adopted(file: string, count: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (bytesOf(file).split("s1.").length > count) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("no credential was kept");
}

function bytesOf(file: string): string {
  return readdirSync(folder)
    .filter((name) => join(folder, name).startsWith(file))
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("");
}

describe("a task that outlives its call", () => {
  test("is resumed after a restart as its owner, and the file contains no token", async () => {
    const worker = createWorker();
    const upstream = opened(await serve(worker.agent, { admission: CALLERS }));
    const file = join(folder, "restart.db");
    const before = await startGateway(upstream.url, file, SECRET);
    const taskId = await begun(await callerOf(before.url, ANN), "wait");
    await adopted(file, 1);
    await before.close();
    const after = opened(await startGateway(upstream.url, file, SECRET));
    const ann = await callerOf(after.url, ANN);
    worker.letGo();
    const { status, artifacts } = await endOf(ann, taskId);
    expect([status.state, JSON.stringify(artifacts)]).toEqual(["completed", expect.stringContaining("done for ann")]);
    const kept = bytesOf(file);
    expect(kept).toContain("s1.");
    expect(kept).not.toContain(ANN);
    expect(kept).not.toContain(Buffer.from(ANN).toString("base64url").slice(4, -4));
    await expect((await callerOf(after.url, BOB)).getTask(taskId)).rejects.toMatchObject({ code: "task_not_found" });
  });

  test("fails with a reason if the gateway has another secret by then", async () => {
    const worker = createWorker();
    const upstream = opened(await serve(worker.agent, { admission: CALLERS }));
    const file = join(folder, "secret.db");
    const before = await startGateway(upstream.url, file, SECRET);
    const taskId = await begun(await callerOf(before.url, ANN), "wait");
    await adopted(file, 1);
    await before.close();
    const after = opened(await startGateway(upstream.url, file, new Uint8Array(32)));
    const { status } = await endOf(await callerOf(after.url, ANN), taskId);
    expect(status).toMatchObject({
      state: "failed",
      error: { code: "unauthenticated", message: expect.stringContaining("cannot be read by this gateway") },
    });
    worker.letGo();
  });

  test("is cancelled upstream, and continued, with the caller's token", async () => {
    const worker = createWorker();
    const upstream = opened(await serve(worker.agent, { admission: CALLERS }));
    const file = join(folder, "turns.db");
    const gateway = opened(await startGateway(upstream.url, file, SECRET));
    const bob = await callerOf(gateway.url, BOB);
    const taskId = await begun(bob, "wait");
    await adopted(file, 1);
    expect((await bob.cancelTask(taskId)).status.state).toBe("canceled");
    await worker.wasStopped;
    const question = await bob.send("ask");
    const task = question.kind === "task" ? question.task.id : "";
    expect(await bob.ask("this one", { task })).toBe("done for bob");
    worker.letGo();
  });
});

test("a caller's token is in no log, hook, captured message, error or output", async () => {
  const worker = createWorker();
  const upstream = opened(await serve(worker.agent, { admission: bearerTokens(new Map([["ann", ANN]])) }));
  const seen: unknown[] = [];
  const noting = (note: unknown): void => void seen.push(note);
  const hooks = {
    beforeEncode: noting,
    afterEncode: noting,
    beforeTransport: noting,
    afterTransport: noting,
    onDecode: noting,
    onStreamEvent: noting,
    onError: noting,
  };
  const ids = { newId: () => crypto.randomUUID(), now: Date.now };
  const inspector = createInspector({ ids, clock: ids });
  const telemetry = inspector.telemetry(createTelemetry({ hooks, log: noting }));
  const bridged = opened(
    await bridge(upstream.url, {
      discoveryCache: new DiscoveryCache(),
      telemetry,
      bridge: { upstreamCredentials: "passthrough" },
    }),
  );
  const server = opened(
    await serve(bridged, {
      admission: CALLERS,
      telemetry,
      onError: noting,
      audit: { record: noting, close: async () => undefined },
      layers: [
        (next) => (operation, call) => {
          noting([operation, call, call.credential]);
          return next(operation, call);
        },
      ],
    }),
  );
  const ann = await callerOf(server.url, ANN);
  expect(await ann.ask("who?")).toBe("done for ann");
  await (await callerOf(server.url, BOB)).ask("who?").catch(noting);
  const captured = inspector.log.list({}, 100).map(({ id }) => inspector.log.get(id));
  expect(seen.length).toBeGreaterThan(10);
  expect(captured.length).toBeGreaterThan(1);
  const printed =
    inspect([seen, captured, bridged], { depth: 30, showHidden: true, maxStringLength: null }) +
    JSON.stringify([seen, captured, bridged.notes]);
  expect(printed).toContain("who?");
  expect(printed).not.toContain(ANN);
  expect(printed).not.toContain(BOB);
});
