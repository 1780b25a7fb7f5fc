import { afterEach, expect, test, vi } from "vitest";
import {
  AgentError,
  type AgentFunction,
  agent,
  bridge,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  serve,
} from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";

/**
 * One caller of a gateway that drops its calls, or keeps them waiting. The upstream counts all calls as the gateway's: the caller must not
 * use up what it allows.
 */

const TOKENS = { mallory: "mallory-token-0123456789", bob: "bob-token-0123456789" };
/** What the upstream allows the gateway, and the gateway one caller. */
const UPSTREAM_TASKS = 13;
const PER_CALLER = 8;
/** What is left of its share while it has left that much behind. */
const LEFT = PER_CALLER / 2;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function stage() {
  const state = { running: 0, stopped: 0 };
  const handle: AgentFunction = async function* (message, task) {
    yield task.working("on it");
    if (message.text !== "slow") return "done";
    state.running++;
    await new Promise<void>((resolve) => task.signal.addEventListener("abort", () => resolve()));
    state.running--;
    state.stopped++;
    return "late";
  };
  const worker = agent({ name: "worker", description: "works", handle });
  const upstream = await serve(worker, { taskLimits: { runningTasksPerOwner: UPSTREAM_TASKS }, limits: { drainMs: 20 } });
  closing.push(() => upstream.close());
  const bridged = await bridge(upstream.url, {
    discoveryCache: new DiscoveryCache(),
    bridge: { callsPerCaller: PER_CALLER },
  });
  closing.push(() => bridged.close());
  const gateway = await serve(bridged, { admission: bearerTokens(new Map(Object.entries(TOKENS))), limits: { drainMs: 20 } });
  closing.push(() => gateway.close());
  const caller = async (bearer: string): Promise<RemoteAgent> => {
    const peer = await connect(gateway.url, { credentials: { bearer }, discoveryCache: new DiscoveryCache() });
    closing.push(() => peer.close());
    return peer;
  };
  return { state, mallory: await caller(TOKENS.mallory), bob: await caller(TOKENS.bob) };
}

/** Calls of which as many wait for their answer, and what became of each. */
async function callSlowly(peer: RemoteAgent, times: number, waiting: number): Promise<SlowCalls> {
  const control = new AbortController();
  let ended = 0;
  const calls = Array.from({ length: times }, () =>
    peer
      .ask("slow", { signal: control.signal })
      .catch((thrown: unknown) => AgentError.from(thrown).code)
      .finally(() => ended++),
  );
  await vi.waitFor(() => expect(times - ended).toBe(waiting), 10_000);
  return { drop: () => control.abort(), ends: Promise.all(calls) };
}

interface SlowCalls {
  drop(): void;
  readonly ends: Promise<readonly string[]>;
}

const codeOf = (call: Promise<string>): Promise<string> =>
  call.then(
    () => "answered",
    (thrown: unknown) => AgentError.from(thrown).code,
  );

const count = (ends: readonly string[], code: string): number => ends.filter((each) => each === code).length;

test("calls that wait leave the others their share", async () => {
  const { state, mallory, bob } = await stage();
  const calls = await callSlowly(mallory, 20, PER_CALLER);
  await vi.waitFor(() => expect(state.running).toBe(PER_CALLER), 15_000);
  expect(await bob.ask("hi")).toBe("done");
  calls.drop();
  const ends = await calls.ends;
  expect([count(ends, "overloaded"), count(ends, "cancelled")]).toEqual([20 - PER_CALLER, PER_CALLER]);
});

test("dropped calls count while their work may go on", async () => {
  const { state, mallory, bob } = await stage();
  const first = await callSlowly(mallory, PER_CALLER, PER_CALLER);
  await vi.waitFor(() => expect(state.running).toBe(PER_CALLER), 15_000);
  first.drop();
  await first.ends;
  // The gateway has noticed. The upstream goes on: nobody was told the ids of these tasks.
  await vi.waitFor(async () => expect(await codeOf(mallory.ask("hi"))).toBe("answered"), 15_000);
  const second = await callSlowly(mallory, PER_CALLER, LEFT);
  await vi.waitFor(() => expect(state.running).toBe(PER_CALLER + LEFT), 15_000);
  second.drop();
  expect(count(await second.ends, "overloaded")).toBe(PER_CALLER - LEFT);
  expect(await bob.ask("hi")).toBe("done");

  // These are tasks of the gateway, which their caller can see and cancel.
  expect(await codeOf(mallory.ask("hi"))).toBe("overloaded");
  const { tasks } = await mallory.listTasks({ state: "working" });
  expect(tasks.length).toBe(LEFT);
  for (const { id } of tasks) await mallory.cancelTask(id);
  await vi.waitFor(() => expect(state.stopped).toBe(LEFT), 15_000);
  await vi.waitFor(async () => expect(await codeOf(mallory.ask("hi"))).toBe("answered"), 15_000);
});
