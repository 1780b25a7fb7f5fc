import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type BenchResult, readEvents, readResult, verifyFolder } from "../../bench/protocols/index.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { KOINE } from "../programs.js";
import { type Asked, type ScriptedModelServer, scriptedModelServer } from "../scripted-model.js";
import { withFolder } from "./stage.js";

const LONG = 300_000;
const PROMPTS = resolve(import.meta.dirname, "../../bench/protocols/prompts");

/** As a model is told it: without the end of the last line. */
const promptText = (name: string): string => readFileSync(join(PROMPTS, `${name}.md`), "utf8").trimEnd();
const input = (name: string) => ({
  role: "prompt",
  name,
  sha256: createHash("sha256").update(promptText(name)).digest("hex"),
  bytes: Buffer.byteLength(promptText(name)),
});

/** A scenario on the command line with one protocol and a model. Two short runs of controls decide nothing: the exit code says so. */
async function bench(folder: string, model: ScriptedModelServer, args: readonly string[]): Promise<BenchResult> {
  const [protocol = ""] = openProtocols.map(({ id }) => id);
  const live = ["--answers", "live", "--model-url", model.baseUrl];
  const argv = [...KOINE, "bench", ...args, "--protocols", protocol, "--runs", "1", ...live, "--out", folder];
  const stderr = await new Promise<string>((done) => {
    execFile(process.execPath, argv, { timeout: LONG }, (_error, _stdout, said) => done(said));
  });
  expect(stderr).toContain(`kept in ${folder}`);
  expect((await verifyFolder(folder)).differences).toEqual([]);
  return readResult(folder);
}

const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
const MESSAGES = z.array(z.object({ role: z.string(), content: z.string() }));
const messagesOf = ({ body }: Asked) => MESSAGES.parse(body["messages"]);

describe("a live model", { timeout: LONG }, () => {
  it("answers the entries of a queue with the prompts of its worker and coordinator", () =>
    withFolder(async (folder) => {
      const model = await scriptedModelServer(() => "It is known.");
      try {
        const out = join(folder, "queue");
        const { runs } = await bench(out, model, [
          "streaming-queue",
          "--models",
          "small,large",
          "--requests",
          "6",
          "--warm-up",
          "0.001",
        ]);
        expect(runs.map(({ status, invalid }) => ({ status, invalid }))).toEqual(
          runs.map(() => ({ status: "complete", invalid: [] })),
        );
        expect(runs.map(({ requests }) => requests)).toEqual(
          runs.map(() => expect.objectContaining({ sent: 6, answered: 6, received: 6 })),
        );
        const { inputs, decoding } = manifestIn(out);
        expect(inputs).toEqual(expect.arrayContaining([input("queue-worker.v1"), input("queue-coordinator.v1")]));
        expect(decoding).toMatchObject({ model: "small", temperature: 0, topP: 1, maxTokens: 4096 });
        // Half of the runs are those of each model; those before the measured window are asked, too.
        const byLarge = runs.filter(({ condition }) => condition.endsWith("model large")).length;
        expect(byLarge).toBe(runs.length / 2);
        const askedOf = (name: string): number => model.asked.filter(({ body }) => body["model"] === name).length;
        expect(askedOf("large")).toBeGreaterThanOrEqual(6 * byLarge);
        expect(askedOf("small")).toBeGreaterThanOrEqual(6 * byLarge);
        expect(askedOf("large") + askedOf("small")).toBe(model.asked.length);
        const [before = ""] = promptText("queue-coordinator.v1").split("{question}");
        for (const asked of model.asked) {
          const [system, user] = messagesOf(asked);
          expect(system).toEqual({ role: "system", content: promptText("queue-worker.v1") });
          expect(user?.content).toContain(before);
        }
      } finally {
        await model.close();
      }
    }));

  it("searches and reports in a ring by the tools of its prompts", () =>
    withFolder(async (folder) => {
      const model = await scriptedModelServer((asked) => ringModel(messagesOf(asked).at(-1)?.content ?? ""));
      try {
        const out = join(folder, "storm");
        const small = ["--agents", "3", "--clients", "1", "--warm-up", "0.001", "--measure", "2", "--down-for", "0.1"];
        const { runs } = await bench(out, model, ["fail-storm", "--model", "small", "--kill", "link", ...small]);
        expect(runs.map(({ status, invalid }) => ({ status, invalid }))).toEqual(
          runs.map(() => ({ status: "complete", invalid: [] })),
        );
        for (const { storm } of runs) {
          expect(storm).toMatchObject({ lost: 0, doubled: 0 });
          expect(storm?.rightShare).toBeGreaterThan(0);
        }
        expect(manifestIn(out).inputs).toEqual(expect.arrayContaining([input("local-search.v1"), input("shard-worker.v1")]));
        const { events } = await readEvents(join(out, "events.ndjson"));
        expect(events.filter((event) => event.type === "note" && event.kind === "unreadable")).toEqual([]);
        // A model is not asked for every probe of a victim.
        expect(events.filter((event) => event.type === "note" && event.kind === "probe")).toEqual([]);
      } finally {
        await model.close();
      }
    }));
});

/** Finds `<name> was <what was asked> in …` in the text of the prompt, and reports what the search found. */
function ringModel(prompt: string): string {
  if (prompt.includes("lookup_fragment")) {
    const asked = /Who was (.*)\?/.exec(prompt)?.[1] ?? "";
    const line = prompt.split("\n").find((each) => each.includes(` was ${asked}.`));
    const answer = line?.slice(0, line.indexOf(" was ")) ?? "";
    return JSON.stringify({ tool: "lookup_fragment", found: answer !== "", answer, confidence: answer === "" ? 0 : 1 });
  }
  const answer = /^answer: (.*)$/m.exec(prompt)?.[1] ?? "";
  const content = /^found: true$/m.test(prompt) ? `ANSWER_FOUND: ${answer}` : "NOT_FOUND";
  return JSON.stringify({ tool: "send_message", destination: "coordinator", content });
}
