import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readManifest } from "../../bench/protocols/folder/folder.js";
import { readEvents, runBench, verifyFolder } from "../../bench/protocols/index.js";
import { protocols } from "../../src/public/protocols.js";
import { options, SETTINGS, testPlan, withFolder } from "./stage.js";

const LONG = 300_000;

type BenchEvents = Awaited<ReturnType<typeof readEvents>>["events"];

function expectStampsInOrder(events: BenchEvents): void {
  const [request] = events.filter((event) => event.type === "request");
  const service = events.find((event) => event.type === "service" && event.seq === request?.seq && event.run === request.run);
  if (request?.type !== "request" || service?.type !== "service") throw new Error("no request was recorded");
  const { stamps } = request;
  const at = service.stamps;
  const path = [stamps.intended, stamps.send, stamps.encodeStart, stamps.write, at.received, at.queueStart, at.serviceStart];
  const whole = [...path, at.serviceEnd, at.replyStart, stamps.replyEnd, stamps.done];
  expect(whole).not.toContain(undefined);
  expect(whole).toEqual([...whole].sort((a, b) => (a ?? 0) - (b ?? 0)));
}

function usesOf(needs: boolean | undefined, uses: boolean | undefined): "always" | "also" | "never" {
  if (needs === true) return "always";
  return uses === true ? "also" : "never";
}

describe("a benchmark", { timeout: LONG }, () => {
  it("measures every protocol over the wire, with the same work in each, and with identities where it uses them", () =>
    withFolder(async (folder) => {
      const use = new Map(protocols.map(({ id, needsIdentity, usesIdentity }) => [id, usesOf(needsIdentity, usesIdentity)]));
      const plan = testPlan({
        protocols: [...use.keys()],
        features: ["envelope", "full"],
        identitiesOf: (id) => use.get(id) ?? "never",
      });
      const result = await runBench(options(folder, plan));
      expect(result.runs.map(({ status, reason, invalid }) => ({ status, reason, invalid }))).toEqual(
        plan.runs.map(() => ({ status: "complete", reason: null, invalid: [] })),
      );
      expect(result.checks.witness.passed).toBe(true);
      expect(result.checks.fairness.passed).toBe(true);
      expect(result.checks.replay).toEqual({
        passed: true,
        statement: `${SETTINGS.requests * (plan.runs.length - 1)} requests carried the same payload and answer in different arms.`,
      });
      for (const { edges, requests, bytes } of result.runs) {
        expect(requests).toMatchObject({ sent: 8, received: 8, answered: 8, duplicates: 0 });
        expect(edges).toHaveLength(1);
        expect(bytes.payload).toBe(128);
        expect(bytes.transport).toBeGreaterThan(0);
      }
      // Those with identities prove, sign and seal; the others do nothing of it.
      const protections = new Map(result.arms.map(({ arm, protection }) => [arm, protection]));
      for (const { id, identities } of plan.arms)
        expect(protections.get(id)).toMatchObject(
          identities === true
            ? { callers: "did", signed: expect.not.stringMatching("none"), sealed: expect.not.stringMatching("none") }
            : { callers: "anonymous", signed: "none", sealed: "none" },
        );
      expect(plan.arms.filter(({ identities, features }) => identities && features === "envelope")).toHaveLength(2);
      expect(readManifest(join(folder, "result")).protection).toEqual(Object.fromEntries(protections));
      expect(readdirSync(join(folder, "result"))).not.toContain("identities");
      // The manifest and the events agree, and every number follows from the events.
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
    }));

  it("stamps a request on both sides in the order in which it passes, and names the number that an edited event changes", () =>
    withFolder(async (folder) => {
      await runBench(options(folder, testPlan()));
      const path = join(folder, "result", "events.ndjson");
      expectStampsInOrder((await readEvents(path)).events);
      const lines = readFileSync(path, "utf8").split("\n");
      const index = lines.findIndex((line) => line.includes('"type":"request"'));
      const event = JSON.parse(lines[index] ?? "") as { stamps: { done: number } };
      event.stamps.done += 1_000_000_000;
      lines[index] = JSON.stringify(event);
      writeFileSync(path, lines.join("\n"));
      const { differences } = await verifyFolder(join(folder, "result"));
      expect(differences.map((each) => each.path)).toContain("runs[0].metrics.maxUs");
      expect(differences.map((each) => each.path)).toContain("manifest.events.sha256");
    }));

  it("keeps what was measured when interrupted, and goes on with the rest", () =>
    withFolder(async (folder) => {
      const plan = testPlan({ settings: { runs: 2 } });
      const abort = new AbortController();
      const first = await runBench(
        options(folder, plan, {
          signal: abort.signal,
          onProgress: ({ done }) => done === 2 && abort.abort(new Error("stop")),
        }),
      );
      expect(first.status).toBe("partial");
      expect(first.runs.map(({ status }) => status)).toEqual(["complete", "complete", "interrupted"]);
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
      const other = options(folder, plan, { resume: true, model: { kind: "scripted", seed: 1, meanMs: 1 } });
      await expect(runBench(other)).rejects.toThrow("was measured with --answers null, not scripted");
      const second = await runBench(options(folder, testPlan({ settings: { runs: 7 } }), { resume: true }));
      expect(second.runs.flatMap(({ reason }) => reason ?? [])).toEqual([]);
      expect(second.runs.map(({ status, attempt }) => [status, attempt])).toEqual([
        ["complete", 1],
        ["complete", 1],
        ["complete", 2],
        ["complete", 1],
        ["complete", 1],
        ["complete", 1],
      ]);
      expect(second.marks).toContain("Resumed 1 times: the runs were not measured in one go.");
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
    }));

  it("goes on only with the service times that it began with", () =>
    withFolder(async (folder) => {
      const plan = testPlan({ settings: { runs: 1, model: "scripted", service: { meanMs: 1, spread: 0.1 } } });
      const model = { kind: "scripted", seed: 1, meanMs: 1, spread: 0.1 } as const;
      await runBench(options(folder, plan, { model }));
      expect(readManifest(join(folder, "result")).settings.service).toEqual({ meanMs: 1, spread: 0.1 });
      for (const other of [
        { ...model, meanMs: 2 },
        { ...model, spread: undefined },
      ])
        await expect(runBench(options(folder, plan, { model: other, resume: true }))).rejects.toThrow("other service times");
      const again = runBench(options(folder, plan, { model, resume: true }));
      await expect(again).resolves.toMatchObject({ plan: { settings: plan.settings } });
    }));

  it("offers a load by a schedule, and several agents in turn", () =>
    withFolder(async (folder) => {
      const plan = testPlan({ settings: { agents: 3, requests: 9 }, rates: [200] });
      const [run] = (await runBench(options(folder, plan))).runs;
      expect(run).toMatchObject({ status: "complete", invalid: [], condition: "constant-200" });
      expect(run?.edges.map(({ edge }) => edge)).toEqual(["caller>agent-1", "caller>agent-2", "caller>agent-3"]);
      expect(run?.requests.sent).toBe(9);
    }));
});
