import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { type LocalIdentity, writeNewIdentity } from "../../src/security/identity/index.js";
import { type Sightings, Watermark } from "../helpers/watermark.js";
import { chainRegistry, newAgent, register, startDevChain, type TestRegistry } from "../sage/registries.js";
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
afterEach(endWatched);
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

/** Where the mark was found. */
interface Found {
  readonly caller: readonly string[];
  readonly agent: readonly string[];
  readonly gateway: { readonly [where in "memory" | "store" | "capture" | "log"]: readonly string[] };
}

/** A file with the identity, which a process opens. */
async function fileOf(home: string, name: string, identity: LocalIdentity): Promise<string> {
  const path = join(home, `${name}.json`);
  await writeNewIdentity(path, identity);
  return path;
}

/** What three processes hold after a message and its answer passed the gateway, and the task was read through it. */
async function held(mode: "adopt" | "relay", isSealed: boolean): Promise<Found> {
  const mark = new Watermark(`mark-${randomBytes(12).toString("hex")}`);
  const home = await mkdtemp(join(folder, "run-"));
  const [ann, middle, desk] = [await registered(), await registered(), await registered()];
  const [, , registry = ""] = registries.registry.id.split(":");
  const onChain = { rpc: chain.rpc, registry };
  const agent = await startWatched("test/sage/processes/desk.ts", {
    ...{ identity: await fileOf(home, "desk", desk), relays: middle.did },
    ...onChain,
  });
  const [identity, store, capture] = [await fileOf(home, "gateway", middle), join(home, "tasks.sqlite"), join(home, "capture")];
  const pin = isSealed ? "sage" : "a2a";
  const gateway = await startWatched("test/sage/processes/gateway.ts", {
    ...{ upstream: agent.ready, pin, mode, identity, store },
    ...{ ...onChain, ...(isSealed ? { peer: desk.did } : {}) },
  });
  const own = { identity: await fileOf(home, "caller", ann), ...onChain, peer: desk.did, gateway: middle.did };
  const facts = { url: gateway.ready, pin, ...(isSealed ? { sealed: own } : {}) };
  const caller = await startWatched("test/sage/processes/caller.ts", facts);
  const length = `heard ${mark.text}`.length;
  expect(await caller.ask(`say ${mark.text}`)).toBe(`answered ${length},${length}`);
  expect(await agent.ask("heard")).toBe("heard 1");
  const memory = await mark.inMemory(gateway.pid);
  expect(await gateway.ask(`capture ${capture}`)).toBe("captured");
  const ends = { caller: await mark.inMemory(caller.pid), agent: await mark.inMemory(agent.pid) };
  for (const { bytes } of [memory, ends.caller, ends.agent]) expect(bytes).toBeGreaterThan(LEAST_MEMORY);
  const files = (await readdir(home)).filter((name) => name.startsWith("tasks.sqlite")).map((name) => join(home, name));
  expect(files.length).toBeGreaterThan(0);
  const formsIn = async (found: Promise<Sightings>): Promise<readonly string[]> => [...(await found).forms];
  return {
    caller: [...ends.caller.forms],
    agent: [...ends.agent.forms],
    gateway: {
      memory: [...memory.forms],
      store: await formsIn(mark.inFiles(files)),
      capture: await formsIn(mark.inFiles([capture])),
      log: [...mark.inText(gateway.log.join("\n")).forms],
    },
  };
}

describe.each(["adopt", "relay"] as const)("a gateway that is to %s", (mode) => {
  test("holds what passes in clear: the search finds it", { timeout: 180_000 }, async () => {
    const { caller, agent, gateway } = await held(mode, false);
    for (const forms of [caller, agent, gateway.memory, gateway.capture]) expect(forms).toContain("utf-8");
    // Only a gateway that owns the tasks stores them.
    expect(gateway.store).toEqual(mode === "adopt" ? ["utf-8"] : []);
  });

  test("holds nothing readable of what is sealed, though both ends do", { timeout: 180_000 }, async () => {
    const { caller, agent, gateway } = await held(mode, true);
    for (const forms of [caller, agent]) expect(forms).toContain("utf-8");
    expect(gateway).toEqual({ memory: [], store: [], capture: [], log: [] });
  });
});
