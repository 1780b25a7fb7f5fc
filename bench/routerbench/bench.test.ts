import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AgentError, CancelSource } from "../../src/envelope/index.js";
import { defaultCandidates } from "../../src/protocols/candidates.js";
import { parseScenarioText } from "../../src/router/forms/index.js";
import { runBench } from "./bench.js";
import { openTools } from "./engine.js";
import type { RunTools } from "./entry.js";
import { checkFolder, FILES, manifestOf, OVERVIEW, textsOf, writeFolder } from "./folder.js";
import { readInput, readInputs } from "./inputs.js";
import type { BenchSettings } from "./plan.js";
import type { Decision, Features, Module, OpinionAnswer, RouterSettings, Scenario, SecondOpinion } from "./router.js";
import { type Verification, verifyFolder } from "./verify.js";

/** Six scenarios, of which the last has no label; 9 modules can be scored. */
const SIX = fileURLToPath(new URL("./fixtures/six.jsonl", import.meta.url));
const SPEC: BenchSettings = {
  modes: ["spec"],
  ablate: [],
  embeddings: false,
  ranking: [],
  model: null,
  seed: 0,
  temperature: 0,
  split: null,
};
const RIGHT: { readonly [module: string]: string } = {
  "FX-L1-01-M1": "ACP",
  "FX-L1-02-M1": "ANP",
  "FX-L2-01-M1": "Agora",
  "FX-L2-01-M2": "A2A",
  "FX-L2-02-M1": "ACP",
  "FX-L2-02-M2": "A2A",
  "FX-L3-01-M1": "ANP",
  "FX-L3-01-M2": "A2A",
  "FX-L3-01-M3": "Agora",
};

type Choose = (module: string, settings: RouterSettings) => Partial<Decision>;

function decisionOf(scenario: Scenario, module: Module, part: Partial<Decision>): Decision {
  return {
    scenario_id: scenario.id,
    module_id: module.id,
    selected_protocol: RIGHT[module.id] ?? null,
    evidence_spans: [],
    rationale: "Nothing in the text decides.",
    margin: 0.5,
    abstained: false,
    rejected: [],
    ...part,
  };
}

/** A router that is right, but for what the test says. */
function toolsWith(choose: Choose, more: Partial<RunTools> = {}): RunTools {
  return {
    cancel: new CancelSource(),
    engine: {
      candidates: defaultCandidates(),
      parse: parseScenarioText,
      route: async (scenario, settings) => ({
        decisions: scenario.modules.map((module) => decisionOf(scenario, module, choose(module.id, settings))),
      }),
      feasible: () => defaultCandidates(),
    },
    ...more,
  };
}

const always: Choose = () => ({});
const inputs = async (): Promise<{ readonly scenarios: Awaited<ReturnType<typeof readInputs>> }> => ({
  scenarios: await readInputs([SIX]),
});

describe("runBench()", () => {
  it("counts a scenario only if all its modules are correct, and excludes it if a label is missing", async () => {
    const tools = toolsWith((id) => (id === "FX-L3-01-M2" ? { selected_protocol: "ACP" } : {}));
    const { report } = await runBench(await inputs(), SPEC, tools);
    const [run] = report.runs;
    expect([run?.metrics.scenarios.hits, run?.metrics.scenarios.of]).toEqual([4, 5]);
    expect([run?.metrics.modules.hits, run?.metrics.modules.of]).toEqual([8, 9]);
    expect(report.inputs).toEqual([{ name: "six.jsonl", scenarios: 5, modules: 9 }]);
    expect(report.excluded.map(({ file, scenario_id }) => [file, scenario_id])).toEqual([["six.jsonl", "FX-L1-03"]]);
    expect(run?.wrong.map(({ module_id, label, chosen }) => [module_id, label, chosen])).toEqual([["FX-L3-01-M2", "A2A", "ACP"]]);
  });

  it("counts abstaining as wrong and as not covered", async () => {
    const tools = toolsWith((id) => (id === "FX-L1-01-M1" ? { selected_protocol: null, abstained: true, margin: 0 } : {}));
    const [run] = (await runBench(await inputs(), SPEC, tools)).report.runs;
    expect([run?.metrics.modules.hits, run?.metrics.modules.of, run?.metrics.abstained]).toEqual([8, 9, 1]);
    expect(run?.metrics.selective?.curve[0]?.coverage.hits).toBe(8);
  });

  it.each([
    ["absent", (): Partial<Decision> => ({ module_id: "another" }), /0 records about module FX-L2-01-M2/],
    ["for no candidate", (): Partial<Decision> => ({ selected_protocol: "SMTP" }), /not a candidate/],
    ["without a margin", (): Partial<Decision> => ({ margin: Number.NaN }), /margin/],
  ])("leaves out the whole scenario of a record that is %s, and fills in nothing", async (_what, flaw, because) => {
    const tools = toolsWith((id) => (id === "FX-L2-01-M2" ? flaw() : {}));
    const [run] = (await runBench(await inputs(), SPEC, tools)).report.runs;
    expect([run?.metrics.scenarios.of, run?.metrics.modules.of, run?.metrics.modules.hits]).toEqual([4, 7, 7]);
    expect(run?.excluded).toHaveLength(1);
    expect(run?.excluded[0]).toMatchObject({ scenario_id: "FX-L2-01", because: expect.stringMatching(because) });
  });

  it("excludes a scenario with two records for one module", async () => {
    const tools = toolsWith(always);
    const route: RunTools["engine"]["route"] = async (scenario, settings, cancel) => {
      const { decisions } = await tools.engine.route(scenario, settings, cancel);
      return { decisions: scenario.id === "FX-L1-01" ? [...decisions, ...decisions] : decisions };
    };
    const [run] = (await runBench(await inputs(), SPEC, { ...tools, engine: { ...tools.engine, route } })).report.runs;
    expect(run?.excluded.map(({ scenario_id }) => scenario_id)).toEqual(["FX-L1-01"]);
  });

  it("shows the router neither labels nor levels", async () => {
    const seen: string[] = [];
    const tools = toolsWith(always);
    const engine: RunTools["engine"] = {
      ...tools.engine,
      route: (scenario, settings, cancel) => {
        seen.push(JSON.stringify(scenario));
        return tools.engine.route(scenario, settings, cancel);
      },
    };
    await runBench(await inputs(), SPEC, { ...tools, engine });
    expect(seen).toHaveLength(5);
    expect(seen.filter((text) => /"(label|level)"/.test(text))).toEqual([]);
  });

  it("passes the ranking to spec+perf only, and ablates one part at a time", async () => {
    const settings: BenchSettings = { ...SPEC, modes: ["spec", "spec+perf"], ablate: ["locks"], ranking: ["ANP"] };
    const tools = toolsWith((id, { ranking, without }) => {
      if (id === "FX-L1-01-M1" && ranking !== undefined) return { selected_protocol: ranking[0] ?? null };
      return id === "FX-L3-01-M1" && without?.includes("locks") === true ? { selected_protocol: null } : {};
    });
    const { report } = await runBench(await inputs(), settings, tools);
    expect(report.runs.map(({ name, metrics }) => [name, metrics.modules.hits])).toEqual([
      ["spec", 9],
      ["spec+perf", 8],
      ["spec without locks", 8],
      ["spec+perf without locks", 7],
    ]);
    expect(report.ablations.map(({ mode, without, changed }) => [mode, without, changed])).toEqual([
      ["spec", "locks", 1],
      ["spec+perf", "locks", 1],
    ]);
    expect(report.ablations[0]?.modules).toBeCloseTo(-1 / 9, 12);
    expect(report.ablations[0]?.scenarios).toBeCloseTo(-1 / 5, 12);
  });

  it("stops when it is cancelled", async () => {
    const cancel = new CancelSource();
    const tools = toolsWith(always, { cancel, onProgress: () => cancel.cancel(new AgentError("cancelled", "enough")) });
    await expect(runBench(await inputs(), SPEC, tools)).rejects.toThrow("enough");
  });

  it("reports that nothing can be scored", async () => {
    const empty = {
      name: "e.jsonl",
      bytes: 1,
      sha256: "",
      text: '{"scenario_id":"x","modules":[{"module_id":"x-M1","text":"y"}]}',
      commit: null,
    };
    await expect(runBench({ scenarios: [empty] }, SPEC, toolsWith(always))).rejects.toThrow(/no scenario of e\.jsonl.*x: /);
  });
});

describe("the mode model", () => {
  const settings: BenchSettings = { ...SPEC, modes: ["model"], model: "small" };
  const saying = (answer: (module: string) => OpinionAnswer): SecondOpinion => ({
    about: async ({ module }) => answer(module.id),
  });
  const opinion = (protocol: string): OpinionAnswer => ({
    kind: "opinion",
    opinion: { protocol, evidence_spans: [], rationale: "It fits.", prompt_sha256: "00" },
  });

  it("puts every module to the model, in order, and judges no margin", async () => {
    const tools = toolsWith(always, { opinion: saying((id) => opinion(RIGHT[id] ?? "")) });
    const { report, runs } = await runBench(await inputs(), settings, tools);
    expect(report.runs[0]?.metrics.modules.hits).toBe(9);
    expect(report.runs[0]?.metrics.selective).toBeNull();
    expect(runs[0]?.entries.map(({ module }) => module.id)).toEqual(Object.keys(RIGHT));
  });

  it("leaves out the scenario of an answer that could not be used", async () => {
    const tools = toolsWith(always, {
      opinion: saying((id) => (id === "FX-L2-02-M1" ? { kind: "none", because: "no answer" } : opinion(RIGHT[id] ?? ""))),
    });
    const [run] = (await runBench(await inputs(), settings, tools)).report.runs;
    expect([run?.metrics.scenarios.of, run?.metrics.modules.of]).toEqual([4, 7]);
    expect(run?.excluded).toEqual([{ file: "six.jsonl", scenario_id: "FX-L2-02", because: "no answer" }]);
  });

  it("rejects an answer that violates a hard constraint", async () => {
    const tools = toolsWith(always, { opinion: saying(() => opinion("A2A")) });
    const feasible = (): readonly Features[] => defaultCandidates().filter(({ name }) => name === "ANP");
    const [run] = (await runBench(await inputs(), settings, { ...tools, engine: { ...tools.engine, feasible } })).report.runs;
    expect([run?.metrics.modules.of, run?.excluded.length]).toEqual([0, 5]);
    expect(run?.excluded[0]?.because).toMatch(/hard constraint/);
  });

  it("abstains without asking where nothing is feasible", async () => {
    let asked = 0;
    const tools = toolsWith(always, { opinion: saying(() => opinion(`never ${++asked}`)) });
    const strict = { ...tools, engine: { ...tools.engine, feasible: () => [] } };
    const [run] = (await runBench(await inputs(), settings, strict)).report.runs;
    expect([asked, run?.metrics.abstained, run?.metrics.modules.of]).toEqual([0, 9, 9]);
  });
});

describe("result folder", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "koine-routerbench-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function leave(settings: BenchSettings, tools: RunTools): Promise<void> {
    const files = await inputs();
    const texts = textsOf(await runBench(files, settings, tools));
    const facts = { koine: "0.0.0", settings, candidates: tools.engine.candidates, inputs: files };
    await checkFolder(folder, true);
    await writeFolder(folder, texts, manifestOf(texts, facts), facts);
  }

  const check = (tools: RunTools, paths: readonly string[] = [SIX]): Promise<Verification> =>
    verifyFolder(folder, { paths, koine: "0.0.0", toolsFor: async () => tools });

  it("is the same bytes every time, and computing it again finds nothing", async () => {
    const read = (): Promise<readonly string[]> =>
      Promise.all([...FILES, "manifest.json", OVERVIEW].map((name) => readFile(join(folder, name), "utf8")));
    await leave(SPEC, toolsWith(always));
    const first = await read();
    await leave(SPEC, toolsWith(always));
    expect(await read()).toEqual(first);
    expect(first.join("")).not.toContain(tmpdir());
    expect(await check(toolsWith(always))).toEqual({ differences: [], koine: "0.0.0", replayed: false });
  });

  it("does not depend on the order in which settings were given", async () => {
    await leave(
      { split: null, temperature: 0, seed: 0, model: null, ranking: [], embeddings: false, ablate: [], modes: ["spec"] },
      toolsWith(always),
    );
    expect((await check(toolsWith(always))).differences).toEqual([]);
  });

  it("reports that the overview was changed or is missing", async () => {
    await leave(SPEC, toolsWith(always));
    await writeFile(join(folder, OVERVIEW), "runs: []\n");
    expect((await check(toolsWith(always))).differences.map(({ file }) => file)).toEqual([OVERVIEW]);
    await rm(join(folder, OVERVIEW));
    expect((await check(toolsWith(always))).differences).toEqual([{ file: OVERVIEW, because: "it is missing" }]);
  });

  it.each([...FILES])("reports that %s was changed", async (name) => {
    await leave(SPEC, toolsWith(always));
    await writeFile(join(folder, name), `${await readFile(join(folder, name), "utf8")} `);
    const { differences } = await check(toolsWith(always));
    expect(differences).toEqual([{ file: name, because: "it was changed after it was written" }]);
  });

  it("reports differences to another router's output", async () => {
    await leave(SPEC, toolsWith(always));
    const { differences } = await check(toolsWith(() => ({ selected_protocol: "ACP" })));
    expect(differences.map(({ file }) => file)).toEqual([...FILES, "manifest.json"]);
  });

  it("reports a missing file and a changed input", async () => {
    await leave(SPEC, toolsWith(always));
    await rm(join(folder, "tables.txt"));
    await writeFile(join(folder, "six.jsonl"), "{}");
    const { differences } = await check(toolsWith(always), []);
    expect(differences.map(({ file }) => file)).toEqual(["six.jsonl", "tables.txt"]);
    await rm(join(folder, "six.jsonl"));
    await expect(check(toolsWith(always), [])).rejects.toThrow(/six\.jsonl is not there/);
  });

  it("reads no file outside the folder that a manifest names", async () => {
    await leave(SPEC, toolsWith(always));
    const manifest = await readFile(join(folder, "manifest.json"), "utf8");
    await writeFile(join(folder, "manifest.json"), manifest.replace('"six.jsonl"', '"../six.jsonl"'));
    await expect(check(toolsWith(always))).rejects.toThrow(/plain name/);
  });

  it("replays a model's answers from the decisions, and computes the rest again", async () => {
    const settings: BenchSettings = { ...SPEC, modes: ["model"], model: "small" };
    let asked = 0;
    const opinion: SecondOpinion = {
      about: async ({ module }) => {
        asked++;
        if (module.id === "FX-L1-02-M1") return { kind: "none", because: "it said nothing" };
        return {
          kind: "opinion",
          opinion: { protocol: "ACP", evidence_spans: ["a"], rationale: "It fits.", prompt_sha256: "00" },
        };
      },
    };
    await leave(settings, toolsWith(always, { opinion }));
    expect(await check(toolsWith(always, { opinion }))).toEqual({ differences: [], koine: "0.0.0", replayed: true });
    expect(asked).toBe(9);
  });
});

describe("a set of ties", () => {
  const TIES = fileURLToPath(new URL("./fixtures/ties.jsonl", import.meta.url));
  const RANKING = ["A2A", "ACP", "ANP", "Agora"];

  async function chosenBy(ranking: readonly string[]) {
    const { tools, close } = await openTools({ signal: new AbortController().signal, embeddings: false });
    const settings: BenchSettings = { ...SPEC, modes: ["spec", "spec+perf"], ranking };
    const { report, runs } = await runBench({ scenarios: await readInputs([TIES]) }, settings, tools);
    await close();
    const byRanking = runs.find(({ plan }) => plan.mode === "spec+perf")?.entries ?? [];
    const chosen = byRanking.map(({ answer }) => (answer.kind === "decision" ? answer.decision.selected_protocol : undefined));
    return { report, chosen };
  }

  it("is decided otherwise by spec and by spec+perf, and every tie by the reversed ranking", async () => {
    const [one, other] = [await chosenBy(RANKING), await chosenBy(RANKING.toReversed())];
    expect(one.report.runs.map(({ metrics }) => [metrics.modules.hits, metrics.abstained])).toEqual([
      [3, 3],
      [6, 0],
    ]);
    expect(one.chosen).toEqual(["A2A", "A2A", "A2A", "ACP", "ACP", "A2A"]);
    expect(other.chosen).toEqual(["Agora", "ANP", "ANP", "Agora", "Agora", "ACP"]);
  });
});

describe("readInputs()", () => {
  it("rejects two files of one name, and unreadable files", async () => {
    await expect(readInputs([SIX, SIX])).rejects.toThrow(/two files are called six\.jsonl/);
    await expect(readInput("no-such-file.jsonl")).rejects.toThrow(/no-such-file\.jsonl cannot be read \(ENOENT\)/);
    await expect(readInput(tmpdir())).rejects.toThrow(/is not a file/);
    await expect(readInput(SIX, 10)).rejects.toThrow(/at most 10 are read/);
  });
});
