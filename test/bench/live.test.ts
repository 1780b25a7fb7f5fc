import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEvents, runBench } from "../../bench/protocols/index.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { compiled } from "../programs.js";
import { scriptedModelServer } from "../scripted-model.js";
import { options, PROCESSES, SETTINGS, testPlan, withFolder } from "./stage.js";

const LONG = 300_000;

describe("a live run", { timeout: LONG }, () => {
  it("is invalid if one arm has another timeout, and names it", () =>
    withFolder(async (folder) => {
      const files = { ...PROCESSES, agent: compiled("test/bench/processes/impatient.ts") };
      const plan = testPlan();
      const { status, checks, marks } = await runBench(options(folder, plan, { files }));
      const [arm, again] = plan.arms.map(({ id }) => id);
      const values = new Map([
        [arm, SETTINGS.messageTimeoutMs],
        [again, SETTINGS.messageTimeoutMs + 1],
      ]);
      expect(checks.fairness.passed).toBe(false);
      // Which of them is measured first is drawn from the seed.
      const first = plan.runs[0]?.arm.endsWith("again") ? again : arm;
      const other = first === arm ? again : arm;
      expect(checks.fairness.statement).toMatch(/^The arms were not configured alike: agents-1 messageTimeoutMs is \d+ for/);
      expect(checks.fairness.statement).toContain(String(values.get(first)));
      expect(checks.fairness.statement).toContain(String(values.get(other)));
      expect(status).toBe("invalid");
      expect(marks).toContain(checks.fairness.statement);
    }));

  it("measures the first token of a model through its stream, and counts what it does not answer as failed", () =>
    withFolder(async (folder) => {
      const model = await scriptedModelServer(({ body }, response) => {
        const text = JSON.stringify(body["messages"]);
        const number = /#(\d+) /.exec(text)?.[1];
        if (number === "1") return void response.writeHead(429).end();
        if (number === "2") return void response.writeHead(500).end();
        const piece = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
        response.writeHead(200, { "content-type": "text/event-stream" });
        if (number === "3") return void response.write(piece("half"), () => response.destroy());
        response.write(piece("one "), () => response.end(`${piece("two ")}${piece("three")}data: [DONE]\n\n`));
        return undefined;
      });
      try {
        const plan = testPlan({
          protocols: openProtocols.slice(0, 2).map(({ id }) => id),
          features: ["full"],
          controls: false,
          settings: { model: "live", requests: 5, retries: 2 },
        });
        const settings = { kind: "live", baseUrl: model.baseUrl, model: "small", timeoutMs: 20_000 } as const;
        const runs = plan.runs.slice(0, 1);
        const result = await runBench(options(folder, { ...plan, runs }, { model: settings }));
        const [run] = result.runs;
        expect(run).toMatchObject({ status: "complete", reason: null });
        // All arrived; what 429, 500 and the cut stream left unanswered is no answer.
        expect(run?.requests).toMatchObject({ sent: 5, received: 5, answered: 2, failed: 3, retries: 0, duplicates: 0 });
        expect(run?.invalid).toEqual(["sent 5, received 5, answered 2: they must be equal without faults"]);
        const { events } = await readEvents(join(folder, "result", "events.ndjson"));
        for (const request of events.filter((event) => event.type === "request" && event.outcome === "answered")) {
          if (request.type !== "request") throw new Error("no request");
          const served = events.filter((event) => event.type === "service" && event.seq === request.seq).at(-1);
          if (served?.type !== "service") throw new Error("no service");
          const { serviceStart, firstToken, serviceEnd } = served.stamps;
          const path = [request.stamps.send, serviceStart, firstToken, request.stamps.firstToken, request.stamps.done];
          expect(path).not.toContain(undefined);
          expect(path).toEqual([...path].sort((a = 0, b = 0) => a - b));
          expect(serviceEnd).toBeGreaterThan(firstToken ?? Number.POSITIVE_INFINITY);
        }
        expect(run?.metrics.firstTokenP50Us).toBeGreaterThan(run?.metrics.firstTokenAddedP50Us ?? Number.POSITIVE_INFINITY);
      } finally {
        await model.close();
      }
    }));
});
