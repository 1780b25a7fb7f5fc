import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  AgentError,
  agent,
  type Bridge,
  bridge,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  type Server,
  serve,
} from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { interfacesOf } from "./pairs/interfaces.js";
import { taskOf } from "./processes/callers.js";
import { type Stall, type StallingProxy, startStallingProxy } from "./processes/stalling-proxy.js";

/** The upstream of a gateway accepts a call and does not answer it. */

const interfaces = await interfacesOf(protocols);
const TIMEOUT_MS = 1_500;
/** Tolerance beyond the time limit, for a busy machine. */
const SLACK_MS = 10_000;
const TEST_MS = 60_000;
const STALLS: readonly Stall[] = ["silent", "head", "trickle"];

let upstream: Server;
let proxy: StallingProxy;
const stopped: string[] = [];
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  const echo = agent({
    name: "echo",
    description: "says it again",
    async *handle(message, task) {
      task.signal.addEventListener("abort", () => stopped.push(message.text));
      if (!message.text.startsWith("work")) return message.text;
      yield task.working();
      await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
      return undefined;
    },
  });
  proxy = await startStallingProxy(() => upstream.port);
  upstream = await serve(echo, { publicUrl: proxy.url });
});
afterEach(async () => {
  proxy.stall("open");
  for (const each of opened.splice(0).reverse()) await each.close();
});
afterAll(async () => {
  await proxy.close();
  await upstream.close();
});

async function callerThrough(pin: string, timeoutMs?: number): Promise<RemoteAgent> {
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  const bridged: Bridge = await bridge(proxy.url, {
    ...options,
    pin,
    discoveryCache: new DiscoveryCache(),
    bridge: { name: "echo" },
  });
  opened.push(bridged);
  const gateway = await serve(bridged, { limits: { drainMs: 0 } });
  opened.push(gateway);
  const caller = await connect(gateway.url, { discoveryCache: new DiscoveryCache() });
  opened.push(caller);
  return caller;
}

function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "answered",
    (thrown: unknown) => AgentError.from(thrown).code,
  );
}

describe("an upstream that hangs, over every interface", () => {
  test.each(STALLS)(
    "%s: the time limit ends the call, and the gateway continues",
    async (stall) => {
      const callers = await Promise.all(
        interfaces.map(async ({ pin }) => ({ pin, caller: await callerThrough(pin, TIMEOUT_MS) })),
      );
      for (const { pin, caller } of callers) expect([pin, await caller.ask("before")]).toEqual([pin, "before"]);
      proxy.stall(stall);
      const from = Date.now();
      const ends = callers.map(async ({ pin, caller }) => {
        const [code, started] = await Promise.all([codeOf(caller.ask("hangs")), caller.start("hangs as well")]);
        return { pin, code, caller, id: taskOf(started).id };
      });
      for (const { pin, code, caller, id } of await Promise.all(ends)) {
        expect([pin, code]).toEqual([pin, "deadline"]);
        // The gateway's own task has the same outcome.
        await expect
          .poll(async () => (await caller.getTask(id)).status, { timeout: SLACK_MS })
          .toMatchObject({ state: "failed", error: { code: "deadline" } });
      }
      expect(Date.now() - from).toBeLessThan(TIMEOUT_MS + SLACK_MS);
      proxy.stall("open");
      for (const { pin, caller } of callers) expect([pin, await caller.ask("after")]).toEqual([pin, "after"]);
    },
    TEST_MS,
  );
});

describe("an upstream that hangs", () => {
  test("before it has named its task: a cancel ends the task at once", async () => {
    const caller = await callerThrough("a2a@1.0/JSONRPC");
    proxy.stall("silent");
    const { id } = taskOf(await caller.start("never heard of"));
    expect((await caller.cancelTask(id)).status.state).toBe("canceled");
    proxy.stall("open");
    expect(await caller.ask("after")).toBe("after");
  });

  test(
    "during its work: a cancel without an answer ends in time, and does not claim success",
    async () => {
      const caller = await callerThrough("a2a@1.0/JSONRPC");
      const events = caller.stream("work on")[Symbol.asyncIterator]();
      const first = await events.next();
      if (first.done === true || first.value.kind !== "task") throw new Error("no task came");
      const { id } = first.value.task;
      await expect.poll(async () => (await caller.getTask(id)).status.state).toBe("working");
      proxy.stall("silent");
      expect(["deadline", "interrupted", "unavailable"]).toContain(await codeOf(caller.cancelTask(id)));
      proxy.stall("open");
      await events.return?.();
      expect((await caller.cancelTask(id)).status.state).toBe("canceled");
      await expect.poll(() => stopped).toContain("work on");
    },
    TEST_MS,
  );
});
