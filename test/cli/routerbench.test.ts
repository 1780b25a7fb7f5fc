import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Asked, type ScriptedModelServer, scriptedModelServer } from "../scripted-model.js";
import { createWorkspace, koine, type Outcome, outcomeOf, startKoine, type Workspace } from "./koine.js";

const SIX = "bench/routerbench/fixtures/six.jsonl";
const LEFT_OUT = /^left out: FX-L1-03 of six\.jsonl: /m;
const FILES = ["MANIFEST.yaml", "decisions.jsonl", "manifest.json", "metrics.json", "report.html", "tables.txt"] as const;
let workspace: Workspace;

beforeAll(async () => {
  workspace = await createWorkspace();
});
afterAll(() => workspace.clear());

interface Report {
  readonly runs: readonly {
    readonly name: string;
    readonly metrics: { readonly modules: { readonly hits: number; readonly of: number } };
    readonly excluded: readonly { readonly because: string }[];
    readonly wrong: readonly { readonly module_id: string; readonly evidence_spans: readonly string[] }[];
  }[];
  readonly baselines: readonly { readonly name: string }[];
}

const reportOf = ({ stdout }: Outcome): Report => JSON.parse(stdout) as Report; // the output of `-o json`

async function bytesIn(folder: string): Promise<readonly string[]> {
  return Promise.all(FILES.map((name) => readFile(`${folder}/${name}`, "utf8")));
}

describe("koine routerbench", () => {
  test("compares modes, baselines and ablations, and reports exclusions", async () => {
    const args = ["routerbench", SIX, "--mode", "spec,spec+perf", "--ablate", "locks,priority"];
    const [text, json, html] = await Promise.all([koine(args), koine([...args, "-o", "json"]), koine([...args, "-o", "html"])]);
    expect([text.code, json.code, html.code]).toEqual([0, 0, 0]);
    expect(text.stderr).toMatch(LEFT_OUT);
    expect(text.stdout).toMatch(/^baseline: naive Bayes /m);
    const { runs, baselines } = reportOf(json);
    const names = ["spec", "spec+perf", "spec without locks", "spec without priority"];
    expect(runs.map(({ name }) => name)).toEqual([...names, "spec+perf without locks", "spec+perf without priority"]);
    expect(runs.map(({ metrics }) => metrics.modules.of)).toEqual([9, 9, 9, 9, 9, 9]);
    expect(runs.map(({ metrics, wrong }) => metrics.modules.hits + wrong.length)).toEqual([9, 9, 9, 9, 9, 9]);
    expect(baselines.map(({ name }) => name)).toEqual(["majority", "naive Bayes"]);
    expect(html.stdout).toMatch(/^<!doctype html>/);
  });

  test("is reproducible byte for byte, and detects changes", async () => {
    const [one, two] = [workspace.path("one"), workspace.path("two")];
    for (const folder of [one, two])
      expect(await koine(["routerbench", SIX, "--ablate", "narrative", "--out", folder])).toMatchObject({ code: 0 });
    expect((await readdir(one)).sort()).toEqual(FILES);
    const written = await bytesIn(one);
    expect(await bytesIn(two)).toEqual(written);
    expect(written.join("")).not.toContain(process.cwd());

    expect(await koine(["routerbench", "--verify", one, SIX])).toEqual({
      code: 0,
      stdout: "everything is what the inputs give\n",
      stderr: "",
    });
    await writeFile(`${one}/metrics.json`, "{}\n");
    const found = await koine(["routerbench", "--verify", one, SIX]);
    expect([found.code, found.stdout]).toEqual([1, "metrics.json: it was changed after it was written\n"]);
    expect(await koine(["routerbench", "--verify", one])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/six\.jsonl is not there/),
    });
  });

  test("overwrites only with --force, and records times only on request", async () => {
    const folder = workspace.path("again");
    const args = ["routerbench", SIX, "--out", folder];
    expect((await koine(args)).code).toBe(0);
    const again = await koine(args);
    expect([again.code, again.stdout]).toEqual([2, ""]);
    expect(again.stderr).toMatch(/is not empty\nhint: .*--force/);
    expect((await koine([...args, "--force", "--stamp"])).code).toBe(0);
    expect(await readFile(`${folder}/manifest.json`, "utf8")).toMatch(/"stamped": "\d{4}-/);
    expect(await koine(["routerbench", "--verify", folder, SIX])).toMatchObject({ code: 0 });
  });

  test.concurrent.each([
    ["a mode without its model", [SIX, "--mode", "model"], /needs a model/],
    ["an unknown mode", [SIX, "--mode", "guess"], /spec, spec\+perf, model/],
    ["an ablation without its input", [SIX, "--ablate", "embeddings"], /needs --embeddings/],
    ["an unused seed", [SIX, "--seed", "3"], /the router draws nothing/],
    ["an unused temperature", [SIX, "--temperature", "0.5"], /for the mode `model`/],
    ["an unused prompt", [SIX, "--prompt", SIX], /for the mode `model`/],
    ["a temperature that is none", [SIX, "--temperature", "hot"], /a number from 0 to 2/],
    ["an unused ranking", [SIX, "--ranking", SIX], /for the mode spec\+perf/],
    ["a missing file", ["nowhere.jsonl"], /nowhere\.jsonl cannot be read \(ENOENT\)/],
    ["a file without labels", ["LABELLESS"], /no scenario of labelless\.jsonl can be scored/],
  ])("refuses %s", async (_what, args, pattern) => {
    const labelless = await workspace.write(
      "labelless.jsonl",
      '{"scenario_id":"a","modules":[{"module_id":"a-M1","text":"b"}]}\n',
    );
    const outcome = await koine(["routerbench", ...args.map((arg) => (arg === "LABELLESS" ? labelless : arg))]);
    expect([outcome.code, outcome.stdout]).toEqual([2, ""]);
    expect(outcome.stderr).toMatch(pattern);
  });
});

describe("koine routerbench --mode model", () => {
  const asking = ({ baseUrl }: ScriptedModelServer): readonly string[] =>
    ["routerbench", SIX, "--mode", "model", "--model-url", baseUrl, "--model", "small"] as const;

  /** Chooses the first candidate, and quotes the beginning of the module's text. */
  function choose({ body }: Asked, response: ServerResponse): undefined {
    const { messages, tools } = body as {
      readonly messages: readonly { readonly content: string }[];
      readonly tools: readonly [
        { readonly function: { readonly parameters: { readonly properties: { readonly [key: string]: { enum?: string[] } } } } },
      ];
    };
    const line = messages.at(-1)?.content.split("\n")[1] ?? "";
    const { module_id, texts } = JSON.parse(line) as { module_id: string; texts: { text: string }[] };
    const [selected_protocol] = tools[0].function.parameters.properties["selected_protocol"]?.enum ?? [];
    const evidence_spans = [texts[0]?.text.split(" ").slice(0, 3).join(" ")];
    const selection = JSON.stringify({
      module_id,
      selected_protocol,
      evidence_spans,
      rationale: `Needs "${evidence_spans[0]}".`,
    });
    const call = { id: "c1", type: "function", function: { name: "protocol_selection", arguments: selection } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] }));
    return undefined;
  }

  test("sends the prompt, the seed and the temperature that are given, and writes them into MANIFEST.yaml", async () => {
    const server = await scriptedModelServer(choose);
    const prompt = await workspace.write("PROMPT.txt", "Pick one of these.\n{{candidates}}\n");
    const folder = workspace.path("sampled");
    const given = ["--prompt", prompt, "--seed", "11", "--temperature", "0.25"];
    try {
      expect(await koine([...asking(server), ...given, "--split", "dev", "--out", folder])).toMatchObject({ code: 0 });
      expect(server.asked.length).toBeLessThan(9);
      for (const { body } of server.asked) {
        expect(body).toMatchObject({ seed: 11, temperature: 0.25 });
        expect(JSON.stringify(body["messages"])).toMatch(/Pick one of these\.\\n(?:A2A|ACP|Agora|ANP): /);
      }
      expect(await readFile(`${folder}/MANIFEST.yaml`, "utf8")).toMatch(
        /router_prompt: PROMPT\.txt\n {2}sha256: "[0-9a-f]{64}"\nruns:\n {2}- id: model\n {4}seed: 11\n {4}temperature: 0\.25\n$/,
      );
      expect(await koine(["routerbench", "--verify", folder, SIX, prompt])).toMatchObject({ code: 0 });
    } finally {
      await server.close();
    }
  });

  test("asks for every module, and its answers are verified without it", async () => {
    const server = await scriptedModelServer(choose);
    const folder = workspace.path("asked");
    try {
      const outcome = await koine([...asking(server), "--out", folder, "-o", "json"]);
      expect(outcome.code).toBe(0);
      expect(reportOf(outcome).runs[0]?.metrics.modules.of).toBe(9);
      expect(server.asked).toHaveLength(9);
    } finally {
      await server.close();
    }
    const checked = await koine(["routerbench", "--verify", folder, SIX]);
    expect([checked.code, checked.stdout]).toEqual([0, "everything is what the inputs give\n"]);
    expect(checked.stderr).toMatch(/taken from decisions\.jsonl/);
  });

  test("a model without a valid answer scores nothing, which is a failure", async () => {
    const server = await scriptedModelServer(() => "I would rather talk about the weather.");
    try {
      const outcome = await koine([...asking(server), "-o", "json"]);
      expect(outcome.code).toBe(1);
      expect(reportOf(outcome).runs[0]?.excluded).toHaveLength(5);
      expect(outcome.stderr).toMatch(/the run model could score nothing/);
    } finally {
      await server.close();
    }
  });

  test("Ctrl-C ends it, and leaves no files", async () => {
    let onRequest: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      onRequest = resolve;
    });
    const server = await scriptedModelServer(() => void onRequest());
    const folder = workspace.path("never");
    try {
      const child = startKoine([...asking(server), "--out", folder]);
      const ended = outcomeOf(child);
      await Promise.race([first, once(child, "close")]);
      child.kill("SIGINT");
      expect(await ended).toMatchObject({ code: 130, stdout: "", stderr: expect.stringContaining("interrupted") });
      await expect(readdir(folder)).rejects.toThrow("ENOENT");
    } finally {
      await server.close();
    }
  });
});
