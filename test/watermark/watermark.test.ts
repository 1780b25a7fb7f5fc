import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { exited } from "../child-process.js";
import { type Form, type Sightings, Watermark } from "../helpers/watermark.js";
import { endWatched, startWatched } from "./start.js";

/** Fewer bytes than any Node process has: the search has read the memory. */
const LEAST_MEMORY = 10 * 1024 * 1024;

const newMark = (): Watermark => new Watermark(`mark-${randomBytes(12).toString("hex")}`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-watermark-"));
});
afterEach(endWatched);
afterAll(() => rm(folder, { recursive: true }));

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
interface Way {
  readonly pin: string;
  readonly mode: "adopt" | "relay";
}

/** A caller says the mark to an agent, through a gateway: three processes. */
async function run(mark: Watermark, { mode, pin }: Way, key: string | undefined): Promise<Run> {
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

/** Holds the bytes it is given, in buffers outside the heap, and knows no other form of them. */
const HOLDER = "const held = []; process.stdin.on('data', (chunk) => { held.push(chunk); process.stdout.write('held'); })";

describe("the search", () => {
  const mark = newMark();
  const plain = Buffer.from(mark.text);
  const around = (before: number): Buffer => Buffer.concat([Buffer.alloc(before, "x"), plain, Buffer.from("yyy")]);
  const FORMS: readonly (readonly [form: Form, held: Buffer])[] = [
    ["utf-8", plain],
    ["utf-16", Buffer.from(mark.text, "utf16le")],
    ...[0, 1, 2].map((before) => ["base64", Buffer.from(around(before).toString("base64"))] as const),
    ["base64", Buffer.from(around(1).toString("base64url"))],
    ["hex", Buffer.from(plain.toString("hex"))],
    ["hex", Buffer.from(plain.toString("hex").toUpperCase())],
  ];

  test.each(FORMS)("finds a text in a buffer of another process as %s", async (form, held) => {
    const holder = spawn(process.execPath, ["-e", HOLDER], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      holder.stdin.write(held);
      await once(holder.stdout, "data");
      const { forms } = await mark.inMemory(holder.pid ?? 0);
      expect([...forms]).toEqual([form]);
    } finally {
      holder.kill("SIGKILL");
      await exited(holder);
    }
  });

  test("misses none that lies across two windows, and finds no other text", async () => {
    const path = join(folder, "windows");
    for (let before = 0; before < 80; before++) {
      await writeFile(path, around(before));
      expect([...(await mark.inFiles([path], 40)).forms]).toEqual(["utf-8"]);
    }
    await writeFile(path, mark.text.slice(0, -1));
    expect([...(await mark.inFiles([path])).forms]).toEqual([]);
    expect([...mark.inText(`a ${mark.text} b`).forms]).toEqual(["utf-8"]);
  });
});

const WAYS: readonly Way[] = [
  { pin: "a2a@1.0/JSONRPC", mode: "adopt" },
  { pin: "a2a@1.0/JSONRPC", mode: "relay" },
  // A gateway opens sealed sessions, not sealed messages.
  { pin: "secured-toy@1/WS", mode: "adopt" },
  { pin: "secured-toy@1/WS", mode: "relay" },
  { pin: "anp@1.2/WS", mode: "adopt" },
];

describe.each(WAYS)("a gateway for $pin that is to $mode", (way) => {
  test("holds what passes in clear: the search finds it", { timeout: 120_000 }, async () => {
    const { caller, agent, gateway } = await run(newMark(), way, undefined);
    expect([...caller.forms, ...agent.forms]).toEqual(["utf-8", "utf-8"]);
    expect([[...gateway.memory.forms], [...gateway.capture.forms]]).toEqual([["utf-8"], ["utf-8"]]);
    // Only a gateway that owns the tasks stores them.
    expect([...gateway.store.forms]).toEqual(way.mode === "adopt" ? ["utf-8"] : []);
  });

  test("holds nothing readable of what passes sealed, though both ends do", { timeout: 120_000 }, async () => {
    const { caller, agent, gateway, captured } = await run(newMark(), way, randomBytes(32).toString("hex"));
    expect([...caller.forms, ...agent.forms]).toEqual(["utf-8", "utf-8"]);
    for (const [where, { forms }] of Object.entries(gateway)) expect([where, ...forms]).toEqual([where]);
    expect(captured).toContain("application/vnd.koine.sealed");
  });
});

test("a gateway that relays a sealed session holds nothing readable, though nobody sealed the message", {
  timeout: 120_000,
}, async () => {
  const { caller, agent, gateway } = await run(newMark(), { pin: "anp@1.2/WS", mode: "relay" }, undefined);
  expect([...caller.forms, ...agent.forms]).toEqual(["utf-8", "utf-8"]);
  for (const [where, { forms }] of Object.entries(gateway)) expect([where, ...forms]).toEqual([where]);
});
