import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  AgentError,
  agent,
  connect,
  createMemoryStore,
  DiscoveryCache,
  type Layer,
  openSqliteStore,
  type RemoteAgent,
  type Server,
  serve,
} from "../src/index.js";
import { createTelemetry } from "../src/public/telemetry.js";
import { type Bandit, contextKey, createBandit } from "../src/router/bandit/index.js";
import { fakeClock } from "./helpers/clock.js";

/** One agent with two protocols, one of them failing, and a bandit that chooses between them. */

const FEASIBLE = ["A2A", "ACP"];
const CONTEXT = contextKey({ capabilities: ["job-lifecycle"], peer: "loopback" });
const DEADLINE_MS = 1_000;
const CALLS = 40;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const echo = agent({ name: "echo", description: "says it again", handle: answer });

function answer({ text }: { readonly text: string }): string {
  if (text === "fail") throw new Error("as it was told to");
  return `again: ${text}`;
}

async function serving(layers: readonly Layer[]): Promise<Server> {
  const server = await serve(echo, { layers });
  cleanups.push(() => server.close());
  return server;
}

/** Requests over this protocol fail. */
function failingBy(protocol: () => string): Layer {
  return (next) => (operation, call) =>
    operation.kind === "send" && call.via.protocol === protocol()
      ? Promise.reject(new AgentError("overloaded", "not today"))
      : next(operation, call);
}

/** Requests over this protocol are answered after their deadline. */
function silentBy(protocol: string): Layer {
  return (next) => (operation, call) =>
    operation.kind === "send" && call.via.protocol === protocol
      ? new Promise((_, reject) => call.cancel.onCancel(reject))
      : next(operation, call);
}

/** Opens one link after the other, each for one call; returns the protocol of each. */
async function calls(count: number, url: string, bandit: Bandit, timeoutMs = 5_000): Promise<readonly string[]> {
  const discoveryCache = new DiscoveryCache();
  const taken: string[] = [];
  for (let call = 0; call < count; call++) {
    const peer = await connect(url, { discoveryCache, feasible: FEASIBLE, chooser: bandit.on(CONTEXT), timeoutMs });
    taken.push(peer.protocol);
    await peer.ask("hello").catch((thrown: unknown) => thrown);
    await peer.close();
    await bandit.settled();
  }
  return taken;
}

/** How often of twenty times this protocol is chosen; without evidence ten times. */
async function choices(bandit: Bandit, protocol: string): Promise<number> {
  const chosen = await Promise.all(Array.from({ length: 20 }, () => bandit.choose(FEASIBLE, CONTEXT)));
  return chosen.filter((each) => each === protocol).length;
}

describe("a bandit that opens links", () => {
  for (const broken of ["a2a", "acp"])
    test(`leaves ${broken} while it fails, and never leaves the feasible protocols`, async () => {
      const server = await serving([failingBy(() => broken)]);
      const bandit = createBandit({ records: createMemoryStore({ now: Date.now }).records, seed: 11 });
      const taken = await calls(CALLS, server.url, bandit);
      const other = broken === "a2a" ? "acp" : "a2a";
      expect(taken.slice(-15).filter((protocol) => protocol === other).length).toBeGreaterThanOrEqual(12);
      expect(new Set([...taken, "a2a", "acp"]).size).toBe(2);
    });

  test("avoids a protocol whose answers arrive after the deadline", async () => {
    const server = await serving([silentBy("a2a")]);
    const bandit = createBandit({ records: createMemoryStore({ now: Date.now }).records, seed: 12 });
    const taken = await calls(25, server.url, bandit, DEADLINE_MS);
    expect(taken.slice(-10).filter((protocol) => protocol === "acp").length).toBeGreaterThanOrEqual(8);
  });

  test("switches when the other protocol breaks", async () => {
    let broken = "a2a";
    const server = await serving([failingBy(() => broken)]);
    const bandit = createBandit({ records: createMemoryStore({ now: Date.now }).records, seed: 13 });
    await calls(20, server.url, bandit);
    broken = "acp";
    const taken = await calls(80, server.url, bandit);
    expect(taken.slice(-10).filter((protocol) => protocol === "a2a").length).toBeGreaterThanOrEqual(8);
  });

  test("keeps its evidence over a restart, in a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "koine-bandit-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const server = await serving([failingBy(() => "a2a")]);
    const file = join(folder, "evidence.db");
    const before = await openSqliteStore({ file, now: Date.now });
    await calls(CALLS, server.url, createBandit({ records: before.records, seed: 14 }));
    await before.close?.();
    const after = await openSqliteStore({ file, now: Date.now });
    cleanups.push(() => after.close?.());
    expect(await choices(createBandit({ records: after.records, seed: 15 }), "ACP")).toBeGreaterThanOrEqual(17);
  });

  test("keeps its evidence over a restart, in an external store", async () => {
    const server = await serving([failingBy(() => "acp")]);
    const { records } = createMemoryStore({ now: Date.now });
    await calls(CALLS, server.url, createBandit({ records, seed: 16 }));
    expect(await choices(createBandit({ records, seed: 17 }), "A2A")).toBeGreaterThanOrEqual(17);
  });
});

describe("feasible protocols of a link", () => {
  async function linked(options: Parameters<typeof connect>[1]): Promise<RemoteAgent> {
    const server = await serving([]);
    const peer = await connect(server.url, { discoveryCache: new DiscoveryCache(), ...options });
    cleanups.push(() => peer.close());
    return peer;
  }

  test("are the only candidates, by id or by name", async () => {
    for (const feasible of [["ACP"], ["acp"], ["XYZ", "Acp"]]) {
      const peer = await linked({ feasible });
      expect([...new Set(peer.interfaces.map(({ protocol }) => protocol))]).toEqual(["acp"]);
      expect(await peer.ask("x")).toBe("again: x");
      await expect(peer.ask("x", { hint: "a2a" })).rejects.toMatchObject({ code: "unsupported_version" });
    }
  });

  test("that the peer does not support are an error that lists the supported ones", async () => {
    for (const [feasible, named] of [
      [["QRS", "XYZ"], "QRS or XYZ"],
      [[], "any feasible protocol"],
    ] as const)
      await expect(linked({ feasible })).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringMatching(new RegExp(`no interface for ${named}; available: .*a2a@1.0/JSONRPC.*acp@`)),
        facts: { sent: "no" },
      });
  });

  test("are chosen from by the configured chooser, which is reported", async () => {
    const asked: (readonly string[])[] = [];
    const chooser = {
      choose(protocols: readonly string[]) {
        asked.push(protocols);
        return "acp";
      },
    };
    const peer = await linked({ feasible: FEASIBLE, chooser });
    expect(asked).toEqual([["a2a", "acp"]]);
    expect([peer.protocol, peer.interfaces[0]?.protocol, peer.verified]).toEqual(["acp", "acp", true]);
    expect(peer.evidence[0]).toBe("acp was chosen among a2a, acp");
    expect(peer.interfaces.map(({ protocol }) => protocol)).toContain("a2a");
  });

  test("are not chosen from if there is only one", async () => {
    const chooser = { choose: () => Promise.reject(new Error("nobody asked")), learn: () => expect.unreachable() };
    const peer = await linked({ feasible: ["ACP"], chooser });
    expect(await peer.ask("x")).toBe("again: x");
  });

  test("are enforced, whatever the chooser returns", async () => {
    await expect(linked({ feasible: FEASIBLE, chooser: { choose: () => "agora" } })).rejects.toMatchObject({
      code: "internal",
      message: 'the protocol chooser returned "agora"; expected one of a2a, acp',
    });
    const refused = new AgentError("unavailable", "no opinion");
    await expect(linked({ chooser: { choose: () => Promise.reject(refused) } })).rejects.toBe(refused);
  });
});

describe("a chooser that never answers", () => {
  test("does not block a connection", async () => {
    const clock = fakeClock();
    const server = await serving([]);
    let connecting: Promise<unknown> = Promise.resolve();
    await new Promise<void>((asked) => {
      const chooser = {
        choose: () => {
          asked();
          return new Promise<string>(() => undefined);
        },
      };
      connecting = connect(server.url, { discoveryCache: new DiscoveryCache(), chooser, clock });
      connecting.catch(asked);
    });
    await Promise.all([
      expect(connecting).rejects.toMatchObject({ code: "deadline", facts: { sent: "no" } }),
      clock.advance(5_000),
    ]);
    expect(clock.waiting).toBe(0);
  });
});

describe("the outcome reported to a chooser", () => {
  interface ReportedOutcome {
    readonly protocol: string;
    readonly ok: boolean;
    readonly latencyMs: number;
    readonly deadlineMs: number | undefined;
  }

  async function hearing(layers: readonly Layer[], options: Parameters<typeof connect>[1] = {}) {
    const server = await serving(layers);
    const outcomes: ReportedOutcome[] = [];
    const chooser = {
      choose: () => "acp",
      learn(protocol: string, outcome: Omit<ReportedOutcome, "protocol">): never {
        outcomes.push({ protocol, ...outcome });
        throw new Error("what a chooser throws is its own affair");
      },
    };
    const peer = await connect(server.url, { discoveryCache: new DiscoveryCache(), chooser, ...options });
    cleanups.push(() => peer.close());
    return { peer, outcomes };
  }

  test("is the result and duration of each send, and of no other call", async () => {
    const { peer, outcomes } = await hearing([], { timeoutMs: 5_000, telemetry: createTelemetry({}) });
    expect(await peer.ask("x")).toBe("again: x");
    for await (const event of peer.stream("x")) expect(event.kind).toBeTypeOf("string");
    await peer.health();
    expect(outcomes).toEqual([
      { protocol: "acp", ok: true, latencyMs: expect.any(Number), deadlineMs: 5_000 },
      { protocol: "acp", ok: true, latencyMs: expect.any(Number), deadlineMs: 5_000 },
    ]);
    await peer.ask("x", { hint: "a2a" });
    expect(outcomes[2]).toMatchObject({ protocol: "a2a", ok: true });
  });

  test("is a failure if the call failed", async () => {
    const { peer, outcomes } = await hearing([failingBy(() => "acp")]);
    await expect(peer.ask("x")).rejects.toThrowError();
    expect(outcomes).toEqual([{ protocol: "acp", ok: false, latencyMs: expect.any(Number), deadlineMs: undefined }]);
  });

  test("is a failure if the answer is a failed task", async () => {
    const { peer, outcomes } = await hearing([]);
    for (const hint of ["acp", "a2a"]) await expect(peer.ask("fail", { hint })).rejects.toThrowError("failed");
    for await (const event of peer.stream("fail")) expect(event.kind).toBeTypeOf("string");
    expect(outcomes.map(({ protocol, ok }) => [protocol, ok])).toEqual([
      ["acp", false],
      ["a2a", false],
      ["acp", false],
    ]);
  });

  test("is nothing if the caller gave up", async () => {
    const { peer, outcomes } = await hearing([silentBy("acp")]);
    const gaveUp = new AbortController();
    const asking = peer.ask("x", { signal: gaveUp.signal });
    gaveUp.abort();
    await expect(asking).rejects.toMatchObject({ code: "cancelled" });
    expect(outcomes).toEqual([]);
  });
});
