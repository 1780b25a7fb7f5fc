import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Sightings, Watermark } from "../helpers/watermark.js";
import { endWatched, startWatched } from "./start.js";

/** Fewer bytes than any Node process has: the search has read the memory. */
const LEAST_MEMORY = 10 * 1024 * 1024;

export const newMark = (): Watermark => new Watermark(`mark-${randomBytes(12).toString("hex")}`);

/** Everything that the gateway of a run held, and the memory of both ends. */
interface Run {
  readonly caller: Sightings;
  readonly agent: Sightings;
  /** What the inspector of the gateway shows. */
  readonly captured: string;
  readonly gateway: {
    readonly memory: Sightings;
    readonly store: Sightings;
    readonly capture: Sightings;
    readonly log: Sightings;
  };
}

/** How callers reach the gateway, and the gateway the agent. */
export interface Way {
  readonly pin: string;
  readonly mode: "adopt" | "relay";
}

/** A caller says the mark to an agent, through a gateway: three processes. */
export async function sayThrough(folder: string, mark: Watermark, { mode, pin }: Way, key: string | undefined): Promise<Run> {
  const home = await mkdtemp(join(folder, "run-"));
  const store = join(home, "tasks.sqlite");
  const agent = await startWatched("agent", { key });
  const gateway = await startWatched("gateway", { upstream: agent.ready, mode, store, pin });
  const caller = await startWatched("caller", { gateway: gateway.ready, pin, key });
  expect(await caller.ask(`say ${mark.text}`)).toBe(`answered ${`heard: ${mark.text}`.length}`);
  expect(await agent.ask("heard")).toBe("heard 1");
  const memory = await mark.inMemory(gateway.pid);
  expect(await gateway.ask(`capture ${join(home, "capture.json")}`)).toBe("captured");
  const files = (await readdir(home)).map((name) => join(home, name));
  const found = {
    caller: await mark.inMemory(caller.pid),
    agent: await mark.inMemory(agent.pid),
    captured: await readFile(join(home, "capture.json"), "utf8"),
    gateway: {
      memory,
      store: await mark.inFiles(files.filter((path) => path.startsWith(store))),
      capture: await mark.inFiles([join(home, "capture.json")]),
      log: mark.inText(gateway.log.join("\n")),
    },
  };
  for (const { bytes } of [found.caller, found.agent, memory]) expect(bytes).toBeGreaterThan(LEAST_MEMORY);
  return found;
}

/** A folder for the runs of a test file, removed with all processes at its end. */
export function watermarkFolder(): { readonly path: string } {
  let path = "";
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), "koine-watermark-"));
  });
  afterEach(endWatched);
  afterAll(() => rm(path, { recursive: true }));
  return {
    get path() {
      return path;
    },
  };
}

/** A gateway of each way holds what passes in clear, and nothing readable of what passes sealed. */
export function describeWays(ways: readonly Way[], folder: { readonly path: string }): void {
  describe.each(ways)("a gateway for $pin that is to $mode", (way) => {
    test("holds what passes in clear: the search finds it", { timeout: 120_000 }, async () => {
      const { caller, agent, gateway } = await sayThrough(folder.path, newMark(), way, undefined);
      expect([...caller.forms, ...agent.forms]).toEqual(["utf-8", "utf-8"]);
      expect([[...gateway.memory.forms], [...gateway.capture.forms]]).toEqual([["utf-8"], ["utf-8"]]);
      // Only a gateway that owns the tasks stores them.
      expect([...gateway.store.forms]).toEqual(way.mode === "adopt" ? ["utf-8"] : []);
    });

    test("holds nothing readable of what passes sealed, though both ends do", { timeout: 120_000 }, async () => {
      const { caller, agent, gateway, captured } = await sayThrough(folder.path, newMark(), way, randomBytes(32).toString("hex"));
      expect([...caller.forms, ...agent.forms]).toEqual(["utf-8", "utf-8"]);
      for (const [where, { forms }] of Object.entries(gateway)) expect([where, ...forms]).toEqual([where]);
      expect(captured).toContain("application/vnd.koine.sealed");
    });
  });
}
