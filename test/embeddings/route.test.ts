import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalEmbedder, openEmbedder } from "../../src/router/embeddings/index.js";
import { type Decision, parseScenarioText, type RouterSettings, route, type Scenario } from "../../src/router/index.js";

/** The project's own scenarios, written to defeat word matching. */
const PARAPHRASES = "bench/routerbench/corpus/paraphrases.jsonl";

/** The number of the eighty that change with every training. */
const BY_CHANCE = 2;
/** The minimum share of correct modules in paraphrased wording. */
const ASKED_FOR = 0.85;

interface Labelled {
  readonly scenarios: readonly Scenario[];
  readonly labels: ReadonlyMap<string, string>;
}

async function readParaphrases(): Promise<Labelled> {
  const text = await readFile(PARAPHRASES, "utf8");
  const { scenarios } = await parseScenarioText(text, PARAPHRASES);
  const modules = text
    .trim()
    .split("\n")
    .flatMap(
      (line) =>
        (JSON.parse(line) as { readonly modules: readonly { readonly module_id: string; readonly label: string }[] }).modules,
    );
  return { scenarios, labels: new Map(modules.map(({ module_id, label }) => [module_id, label])) };
}

describe("route() with sentence embeddings", () => {
  let embedder: LocalEmbedder;
  let labelled: Labelled;
  beforeAll(async () => {
    embedder = await openEmbedder();
    labelled = await readParaphrases();
  });
  afterAll(() => embedder.close());

  const decide = async (settings: RouterSettings): Promise<readonly Decision[]> =>
    (await route(labelled.scenarios, settings)).decisions;
  const rightIn = (decisions: readonly Decision[]): number =>
    decisions.filter(({ module_id, selected_protocol }) => selected_protocol === labelled.labels.get(module_id)).length;

  it("does no harm on the paraphrases: the difference is within chance", async () => {
    const without = await decide({});
    const withThem = await decide({ embedder });
    expect(withThem).toHaveLength(labelled.labels.size);
    expect(rightIn(withThem)).toBeGreaterThanOrEqual(rightIn(without) - BY_CHANCE);
    expect(rightIn(withThem) / labelled.labels.size).toBeGreaterThanOrEqual(ASKED_FOR);
  });

  it("has an effect: some margin differs", async () => {
    const margins = (decisions: readonly Decision[]): readonly number[] => decisions.map(({ margin }) => margin);
    expect(margins(await decide({ embedder }))).not.toEqual(margins(await decide({})));
  });

  it("decides the same again with a newly opened model", async () => {
    const again = await openEmbedder();
    try {
      expect(JSON.stringify(await decide({ embedder: again }))).toBe(JSON.stringify(await decide({ embedder })));
    } finally {
      await again.close();
    }
  });

  it("has no effect when switched off", async () => {
    const without = await decide({});
    expect(await decide({ embedder, without: ["embeddings"] })).toEqual(without);
  });
});
