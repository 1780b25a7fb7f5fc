import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openProtocols } from "../helpers/open-protocols.js";
import { KOINE } from "../programs.js";
import { scriptedModelServer } from "../scripted-model.js";
import { withFolder } from "./stage.js";

const LONG = 300_000;

const TEAM = {
  task_type: "general_qa",
  complexity: "low",
  required_tools: ["search_documents", "read_table", "create_chat_completion"],
  agents: [
    { tool: "search_documents", name: "Seeker", role: "looks for the port" },
    { tool: "create_chat_completion", name: "Closer", role: "answers" },
  ],
  estimated_steps: 2,
  domain_areas: ["ships"],
};

/** One model for all parts: it plans, answers with what the team found, judges and sums up, told apart by its prompts. */
function reply(prompt: string): string {
  if (prompt.startsWith("You put together a team")) return JSON.stringify(TEAM);
  if (prompt.startsWith("You judge how a team")) return JSON.stringify({ is_correct: true, quality_score: 4, reasoning: "log" });
  if (prompt.startsWith("You sum up")) return "Seeker found the port.";
  return /What the team has found: (.*)$/.exec(prompt)?.[1] ?? "unknown";
}

function koine(
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) =>
    execFile(process.execPath, [...KOINE, "bench", ...args], (error, stdout, stderr) =>
      resolve({ status: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stdout, stderr }),
    ),
  );
}

it("plans, answers, judges and sums up by a model, and verifies what it judged", { timeout: LONG }, () =>
  withFolder(async (folder) => {
    const prompts: string[] = [];
    const server = await scriptedModelServer(({ body }) => {
      const messages = body["messages"];
      const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
      const prompt = typeof last === "object" && last !== null && "content" in last ? String(last.content) : "";
      prompts.push(prompt);
      return reply(prompt);
    });
    try {
      const out = join(folder, "out");
      const model = ["--model-url", server.baseUrl, "--model", "small"];
      const size = ["--levels", "1", "--questions", "1", "--runs", "1", "--warm-up", "0.1", "--budget", "100"];
      const measured = await koine(
        "docqa",
        ...size,
        "--protocols",
        openProtocols[0]?.id ?? "",
        "--answers",
        "live",
        ...model,
        "--out",
        out,
      );
      // The controls need more runs to be judged; the run itself is whole.
      const result = JSON.parse(readFileSync(join(out, "result.json"), "utf8"));
      expect([measured.stderr, result.plan.questions[0].team.planner]).toEqual([expect.anything(), "small"]);
      expect(result.plan.questions[0].team.agents.map(({ name }: { name: string }) => name)).toEqual(["Seeker", "Closer"]);
      expect(result.docqa.arms[0].success).toMatchObject({ hits: 1, of: 1 });
      const manifest = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
      expect(manifest.inputs.map(({ name }: { name: string }) => name)).toContain("docqa-planner.v1");

      const judged = await koine("judge", out, ...model, "--times", "2", "-o", "json");
      expect(judged).toMatchObject({ status: 0 });
      const { summary, judged: answers, complete } = JSON.parse(judged.stdout);
      expect([complete, summary.agreement.rule, summary.arms[0].quality]).toEqual([true, 1, 4]);
      expect(answers[0].votes).toHaveLength(2);
      // The judge sees the messages between the agents, not only the answer.
      const asked = prompts.find((prompt) => prompt.startsWith("You judge")) ?? "";
      expect(asked).toContain('"message":"port","from":"agent-1","to":"agent-2"');

      const remembered = await koine("memory", out, "L1-Q1", ...model);
      expect(remembered).toMatchObject({ status: 0, stdout: expect.stringContaining("Seeker found the port.") });

      expect(await koine("verify", out)).toMatchObject({ status: 0 });
      const file = join(out, "judgements.json");
      const changed = JSON.parse(readFileSync(file, "utf8"));
      changed.judged[0].votes[0].quality_score = 5;
      writeFileSync(file, JSON.stringify(changed));
      expect(await koine("verify", out)).toMatchObject({
        status: 1,
        stdout: expect.stringContaining("judgements.summary.arms[0].quality"),
      });
    } finally {
      await server.close();
    }
  }),
);

it("refuses to judge without a model, and what has no teams", () =>
  withFolder(async (folder) => {
    expect(await koine("judge", folder)).toMatchObject({ status: 2, stderr: expect.stringContaining("judging needs a model") });
    expect(await koine("docqa", "--planner", "model", "--out", join(folder, "x"))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--planner model needs --answers live or recorded"),
    });
  }));
