import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { agent, connect, type Server, serve } from "../../src/index.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { type LocalIdentity, writeNewIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { Watermark } from "../helpers/watermark.js";
import { chainRegistry, newAgent, register, startDevChain, type TestRegistry } from "../sage/registries.js";
import { PROTOCOLS } from "../sage/world.js";
import { endWatched, startWatched } from "../watermark/start.js";

/** A gateway between two agents that seal: its memory and its files are searched for what they say. In clear the same search finds it. */

/** Fewer bytes than any Node process has: the search has read the memory. */
const LEAST_MEMORY = 10 * 1024 * 1024;

let chain: DevChain;
let registries: TestRegistry;
let folder: string;
beforeAll(async () => {
  chain = await startDevChain(0);
  registries = await chainRegistry(chain);
  folder = await mkdtemp(join(tmpdir(), "koine-sage-watermark-"));
  await chmod(folder, 0o700);
});
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await endWatched();
});
afterAll(async () => {
  await registries?.close();
  await chain?.stop();
  await rm(folder, { recursive: true });
});

async function registered(): Promise<LocalIdentity> {
  const identity = await newAgent();
  await register(registries, identity);
  return identity;
}

/** It becomes a task, which a gateway that owns tasks stores. */
const echo = agent({
  name: "desk",
  description: "repeats",
  async *handle(message, task) {
    yield task.working();
    return `heard ${message.text}`;
  },
});

interface Found {
  readonly memory: readonly string[];
  readonly store: readonly string[];
}

/** What a gateway holds after a message and its answer passed it. */
async function held(mode: "adopt" | "relay", isSealed: boolean): Promise<Found> {
  const mark = new Watermark(`mark-${randomBytes(12).toString("hex")}`);
  const [ann, middle, desk] = [await registered(), await registered(), await registered()];
  const [, , registry = ""] = registries.registry.id.split(":");
  const onChain = { rpc: chain.rpc, registry };
  const server: Server = await serve(echo, {
    ...{ protocols: PROTOCOLS, identity: desk, port: 0, settings: { sage: { ...onChain, relays: middle.did } } },
    // What a gateway brings is as old as its author's signature, and may be from before the start of this server.
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
  });
  closing.push(() => server.close());
  const home = await mkdtemp(join(folder, "run-"));
  const [identity, store] = [join(home, "identity.json"), join(home, "tasks.sqlite")];
  await writeNewIdentity(identity, middle);
  const pin = isSealed ? "sage" : "a2a";
  const facts = { upstream: server.url, pin, mode, identity, store, ...onChain, ...(isSealed ? { peer: desk.did } : {}) };
  const gateway = await startWatched("test/sage/processes/gateway.ts", facts);
  const settings = { sage: { ...onChain, peer: desk.did, gateway: middle.did } };
  const caller = isSealed ? { identity: ann, settings } : {};
  const peer = await connect(gateway.ready, { protocols: PROTOCOLS, pin, ...caller });
  closing.push(() => peer.close());
  expect(await peer.ask(mark.text)).toBe(`heard ${mark.text}`);
  const memory = await mark.inMemory(gateway.pid);
  expect(memory.bytes).toBeGreaterThan(LEAST_MEMORY);
  const files = (await readdir(home)).filter((name) => name.startsWith("tasks.sqlite")).map((name) => join(home, name));
  expect(files.length).toBeGreaterThan(0);
  return { memory: [...memory.forms], store: [...(await mark.inFiles(files)).forms] };
}

test.each(["adopt", "relay"] as const)(
  "a gateway that is to %s holds what passes in clear: the search finds it",
  async (mode) => {
    const { memory, store } = await held(mode, false);
    expect(memory).toContain("utf-8");
    // Only a gateway that owns the tasks stores them.
    expect(store).toEqual(mode === "adopt" ? ["utf-8"] : []);
  },
);

test("a gateway that is to relay holds nothing readable of what is sealed", async () => {
  expect(await held("relay", true)).toEqual({ memory: [], store: [] });
});
