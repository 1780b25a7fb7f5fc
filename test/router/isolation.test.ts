import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Decision, type Module, readScenarios, route, type Scenario } from "../../src/router/index.js";
import { moduleSaying, scenarioOf } from "./scenarios.js";
import { THIRTY } from "./thirty-texts.js";

const MODULES: readonly Module[] = THIRTY.map((text, index) => moduleSaying(text, { id: `m${index}` }));
const SHARED = "The harbour office wrote this. All messages are encrypted from end to end so that no relay can read them.";

/** Decisions by module, as JSON. */
async function byModule(scenario: Scenario): Promise<ReadonlyMap<string, string>> {
  const { decisions } = await route(scenario);
  return new Map(decisions.map((decision) => [decision.module_id, JSON.stringify(decision)]));
}
const scenarioWith = (modules: readonly Module[], description = SHARED): Scenario => ({ id: "s", description, modules });

/** The same value with its members in another order. */
function shuffled(value: unknown, order: (names: readonly string[]) => readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => shuffled(each, order));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(order(Object.keys(value)).map((name) => [name, shuffled(Reflect.get(value, name), order)]));
}

describe("a module is decided from its own text", () => {
  it("whatever the order of the modules, and whichever other modules there are", async () => {
    const all = await byModule(scenarioWith(MODULES));
    expect(all.size).toBe(30);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...MODULES], { minLength: 2 }), async (some) => {
        expect(await byModule(scenarioWith(some))).toEqual(new Map(some.map(({ id }) => [id, all.get(id)])));
      }),
      { numRuns: 40 },
    );
  });

  it("whatever the order of members in the file", async () => {
    const file = {
      scenario: "quay",
      description: SHARED,
      topology: [["a", "b"]],
      modules: [
        {
          id: "a",
          name: "Cranes",
          text: THIRTY[0],
          tasks: [THIRTY[4]],
          risks: [THIRTY[10]],
          requires: ["streaming"],
          never: ["anp"],
        },
        { id: "b", text: THIRTY[3], must: [THIRTY[25]], mustNot: [THIRTY[4]], neighbours: ["a"] },
      ],
    };
    const bytesOf = async (document: unknown): Promise<string> => {
      const { scenarios, excluded } = readScenarios(document);
      expect(excluded).toEqual([]);
      return JSON.stringify(await route(scenarios));
    };
    const before = await bytesOf(file);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), async (keys) => {
        const order = (names: readonly string[]): readonly string[] =>
          names
            .map((name, index) => [keys[index % keys.length] ?? 0, name] as const)
            .sort(([a], [b]) => a - b)
            .map(([, name]) => name);
        expect(await bytesOf(shuffled(file, order))).toBe(before);
      }),
      { numRuns: 40 },
    );
  });

  it("and not from its label, its level or its neighbours", async () => {
    const [first = moduleSaying("")] = MODULES;
    const plain = await byModule(scenarioWith([first]));
    const relabelled = { ...first, label: "Agora", neighbours: ["m1", "m2"] };
    expect(await byModule({ ...scenarioWith([relabelled]), level: 5 })).toEqual(plain);
  });
});

describe("the text of the scenario", () => {
  const OPEN = moduleSaying("It should be friendly and blue.", { id: "open" });
  const OTHER = moduleSaying("It should be small and green.", { id: "other" });
  const chosen = async (scenario: Scenario): Promise<readonly Decision["selected_protocol"][]> =>
    (await route(scenario)).decisions.map(({ selected_protocol }) => selected_protocol);
  const SECRET = "has to be encrypted from end to end so that no operator or relay in between can read the content";

  it("counts for every module if it is about all", async () => {
    const description = `Whatever all modules exchange ${SECRET}.`;
    expect(await chosen(scenarioWith([OPEN, OTHER], description))).toEqual(["ANP", "ANP"]);
  });

  it("counts for none if it is about one of several", async () => {
    const description = `What the harbour office sends ${SECRET}.`;
    expect(await chosen(scenarioWith([OPEN, OTHER], description))).toEqual([null, null]);
  });

  it("counts fully for the only module", async () => {
    const description = `What the harbour office sends ${SECRET}.`;
    expect(await chosen(scenarioWith([OPEN], description))).toEqual(["ANP"]);
  });

  it("is quoted as evidence verbatim", async () => {
    const description = `Whatever all modules exchange ${SECRET}.`;
    const { decisions } = await route(scenarioWith([OPEN, OTHER], description));
    expect(decisions).toHaveLength(2);
    expect(decisions.map(({ evidence_spans }) => evidence_spans.length > 0)).toEqual([true, true]);
    expect(decisions.flatMap(({ evidence_spans }) => evidence_spans).filter((span) => !description.includes(span))).toEqual([]);
  });

  it("is not read from a module for its neighbour", async () => {
    const secret = moduleSaying(`What all modules exchange ${SECRET}.`, { id: "secret" });
    expect((await route(scenarioOf(secret, OPEN))).decisions[1]?.selected_protocol).toBeNull();
  });
});
