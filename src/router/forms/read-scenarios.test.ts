import { describe, expect, it } from "vitest";
import type { Scenario } from "../scenario.js";
import { parseScenarioText, readScenarios } from "./read-scenarios.js";

const RELEASED = {
  id: "L2-Q90",
  description: "A bakery with two counters.",
  modules_count: 2,
  module: [
    {
      name: "Order desk",
      agents: ["Baker AGENT-NAME", "Clerk"],
      protocol_selection: { choices: ["a2a", "Acp"], select_exactly: 1 },
      tasks: ["Take orders by web form.", "Never book one twice."],
      potential_issues: ["A clerk presses the button again."],
    },
    {
      name: "Till",
      protocol_selection: { choices: ["A2A", "ANP", "ACP", "AGORA"] },
      tasks: ["Count the takings."],
      potential_issues: [],
    },
  ],
  ground_truth: {
    "2": { module_protocol: "AGORA", justification: "SECRET-WHY", behavioral_expectations: ["SECRET-EXPECTED"] },
    "1": { module_protocol: "acp", justification: "SECRET-WHY" },
  },
};

const ROLES = {
  scenario_id: "RB-L2-90",
  difficulty: "L2",
  modules: [
    { module_id: "RB-L2-90-M1", role: "porter", gt: "ACP" },
    { module_id: "RB-L2-90-M2", role: "night clerk", gt: "anp" },
  ],
  text: "A small hotel. The porter files luggage slips. The night clerk proves who she is.",
};

const LABELLED = {
  scenario_id: "RB-L1-90",
  level: 1,
  title: "Ferry",
  modules: [
    {
      module_id: "RB-L1-90-M1",
      name: "Deck",
      text: "Hands out boarding passes.",
      label: "ACP",
      locks: ["acp", "Idempotent Requests", "PUT with a key"],
      excludes: ["AGORA", "streaming", "open-ended chat"],
      evidence: ["SECRET-EVIDENCE"],
    },
  ],
};

const OWN = {
  scenario: "harbour",
  description: "Three desks.",
  topology: "chain",
  modules: [
    { id: "pilot", name: "Pilot desk", text: "Talks ships in.", tasks: ["Guides them."], risks: ["A ship is lost."] },
    { id: "dues", requires: ["idempotency"], avoids: ["turn-taking"], only: ["acp", "A2A"], never: ["anp"], label: "acp" },
    { id: "log", must: ["sealed"], mustNot: ["shouting"], neighbours: ["pilot"] },
  ],
};

function only(document: unknown): Scenario {
  const { scenarios, excluded } = readScenarios(document);
  expect(excluded).toEqual([]);
  expect(scenarios).toHaveLength(1);
  return scenarios[0] as Scenario; // its length was just checked
}

/** The same value with the members of every object the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, turned(member)])
      .toReversed(),
  );
}

describe("readScenarios()", () => {
  it("reads the released form", () => {
    expect(only([RELEASED])).toEqual({
      id: "L2-Q90",
      level: 2,
      description: "A bakery with two counters.",
      modules: [
        {
          id: "L2-Q90-M1",
          passages: [
            { kind: "name", text: "Order desk" },
            { kind: "need", text: "Take orders by web form." },
            { kind: "need", text: "Never book one twice." },
            { kind: "risk", text: "A clerk presses the button again." },
          ],
          only: ["A2A", "ACP"],
          label: "ACP",
        },
        {
          id: "L2-Q90-M2",
          passages: [
            { kind: "name", text: "Till" },
            { kind: "need", text: "Count the takings." },
          ],
          label: "Agora",
        },
      ],
    });
  });

  it("reads the paper's form with one text and roles in it", () => {
    expect(only(ROLES)).toEqual({
      id: "RB-L2-90",
      level: 2,
      description: "A small hotel",
      modules: [
        {
          id: "RB-L2-90-M1",
          passages: [
            { kind: "name", text: "porter" },
            { kind: "need", text: "The porter files luggage slips" },
          ],
          label: "ACP",
        },
        {
          id: "RB-L2-90-M2",
          passages: [
            { kind: "name", text: "night clerk" },
            { kind: "need", text: "The night clerk proves who she is" },
          ],
          label: "ANP",
        },
      ],
    });
  });

  it("reads the paper's form with texts, locks and excludes", () => {
    expect(only(LABELLED)).toEqual({
      id: "RB-L1-90",
      level: 1,
      description: "Ferry",
      modules: [
        {
          id: "RB-L1-90-M1",
          passages: [
            { kind: "name", text: "Deck" },
            { kind: "need", text: "Hands out boarding passes." },
            { kind: "must", text: "PUT with a key" },
            { kind: "mustNot", text: "open-ended chat" },
          ],
          requires: ["idempotency"],
          avoids: ["streaming"],
          only: ["ACP"],
          never: ["Agora"],
          label: "ACP",
        },
      ],
    });
  });

  it("reads our own form, alone, in a list, and under scenarios", () => {
    const expected = {
      id: "harbour",
      description: "Three desks.",
      modules: [
        {
          id: "pilot",
          passages: [
            { kind: "name", text: "Pilot desk" },
            { kind: "need", text: "Talks ships in." },
            { kind: "need", text: "Guides them." },
            { kind: "risk", text: "A ship is lost." },
          ],
          neighbours: ["dues", "log"],
        },
        {
          id: "dues",
          passages: [],
          requires: ["idempotency"],
          avoids: ["turn-taking"],
          only: ["ACP", "A2A"],
          never: ["ANP"],
          neighbours: ["pilot", "log"],
          label: "ACP",
        },
        {
          id: "log",
          passages: [
            { kind: "must", text: "sealed" },
            { kind: "mustNot", text: "shouting" },
          ],
          neighbours: ["pilot", "dues"],
        },
      ],
    };
    for (const document of [OWN, [OWN], { scenarios: [OWN] }]) expect(only(document)).toEqual(expected);
  });

  it("never reads answers or names of agents as text", () => {
    const read = JSON.stringify(readScenarios([RELEASED, LABELLED]).scenarios);
    expect(read).not.toMatch(/SECRET|AGENT-NAME/);
  });

  it("is independent of the order of members", () => {
    const all = [RELEASED, ROLES, LABELLED, OWN];
    expect(JSON.stringify(readScenarios(turned(all)))).toBe(JSON.stringify(readScenarios(all)));
    expect(readScenarios(all).scenarios).toHaveLength(4);
  });

  it("names modules by index if the file does not", () => {
    expect(only({ scenario_id: "S", modules: [{ text: "a" }, { text: "b" }] }).modules.map(({ id }) => id)).toEqual([
      "S-M1",
      "S-M2",
    ]);
    expect(only({ scenario: "S", modules: [{ text: "a" }] }).modules[0]?.id).toBe("S-M1");
  });

  it.each([
    ["star:dues", { pilot: ["dues"], dues: ["pilot", "log"], log: ["dues"] }],
    ["ring", { pilot: ["dues", "log"], dues: ["pilot", "log"], log: ["pilot", "dues"] }],
    ["mesh", { pilot: ["dues", "log"], dues: ["pilot", "log"], log: ["pilot", "dues"] }],
    ["chain", { pilot: ["dues"], dues: ["pilot", "log"], log: ["dues"] }],
    [[["log", "pilot"]], { pilot: ["log"], dues: undefined, log: ["pilot"] }],
  ])("reads the topology %j", (topology, neighbours) => {
    const { modules } = only({ scenario: "s", topology, modules: ["pilot", "dues", "log"].map((id) => ({ id })) });
    expect(Object.fromEntries(modules.map((module) => [module.id, module.neighbours]))).toEqual(neighbours);
  });

  const without = (name: string) => ({ ...RELEASED, module: [{ ...RELEASED.module[0], [name]: undefined }, RELEASED.module[1]] });
  it.each([
    ["no tasks", without("tasks"), "module[0].tasks", "is missing"],
    ["no name", without("name"), "module[0].name", "is missing"],
    ["a module short", { ...RELEASED, modules_count: 3 }, "module", "has 2 modules where modules_count promises 3"],
    ["no answer for one", { ...RELEASED, ground_truth: { "1": RELEASED.ground_truth["1"] } }, "ground_truth.2", "is missing"],
    ["a module that is null", { ...RELEASED, module: [null, null] }, "module[0]", "must be an object"],
    ["no modules", { scenario_id: "S", modules: [] }, "modules", "has no module"],
    ["no text for a role", { ...ROLES, text: undefined }, "text", "is missing"],
    ["a text that is a number", { scenario_id: "S", modules: [{ text: 5 }] }, "modules[0].text", "must be text, not a number"],
    ["an empty text", { scenario_id: "S", modules: [{ text: " " }] }, "modules[0].text", "is empty"],
    ["a role of a page", { ...ROLES, modules: [{ role: "x".repeat(201) }] }, "modules[0].role", "is longer than 200 characters"],
    ["a level of six", { ...LABELLED, level: 6 }, "level", "must be a level from 1 to 5, or L1 to L5"],
    [
      "a label of nothing",
      { scenario_id: "S", modules: [{ text: "a", label: "ACPP" }] },
      "modules[0].label",
      'names no protocol: "ACPP"; did you mean ACP?',
    ],
    ["one id twice", { scenario: "s", modules: [{ id: "a" }, { id: "a" }] }, 'module "a"', "is there twice"],
    [
      "a slip in a member",
      { scenario: "s", modules: [{ id: "a", taks: [] }] },
      "modules[0].taks",
      "is not known; did you mean tasks?",
    ],
    ["a slip in the first member", { scenaro: "s", modules: [] }, "scenaro", "is not known; did you mean scenario?"],
    [
      "a slip in a capability",
      { scenario: "s", modules: [{ requires: ["streamng"] }] },
      "modules[0].requires[0]",
      'is not known: "streamng"; did you mean streaming?',
    ],
    ["a number for an id", { scenario: 7, modules: [{}] }, "scenario", "must be text, not a number: put it in quotes"],
    [
      "a neighbour that is not there",
      { scenario: "s", modules: [{ id: "a", neighbours: ["b"] }] },
      "topology",
      'names "b", which is no module; there are: a',
    ],
    [
      "a module that talks to itself",
      { scenario: "s", modules: [{ id: "a", neighbours: ["a"] }] },
      "topology",
      'connects "a" to itself',
    ],
    [
      "too many modules",
      { scenario_id: "S", modules: Array(1_001).fill({ text: "a" }) },
      "modules",
      "has 1001 modules, and may have 1000",
    ],
    [
      "a mesh that is too big",
      { scenario: "s", topology: "mesh", modules: Array.from({ length: 64 }, (_, n) => ({ id: `m${n}` })) },
      "topology",
      "is a mesh of 64 modules, which has more than 2000 links",
    ],
    [
      "texts that are too long together",
      { scenario: "s", modules: [{ id: "a", tasks: ["x".repeat(60_000), "y".repeat(60_000)] }] },
      'module "a"',
      "has more than 100000 characters",
    ],
  ])("excludes a scenario with %s, and continues", (_name, record, where, because) => {
    const { scenarios, excluded } = readScenarios([record, LABELLED], { answers: true });
    expect(scenarios.map(({ id }) => id)).toEqual(["RB-L1-90"]);
    expect(excluded.map((each) => [each.where, each.because])).toEqual([[`[0].${where}`, because]]);
  });

  it.each([
    ["a module short", { ...RELEASED, modules_count: 3 }],
    ["no answer at all", { ...RELEASED, ground_truth: 5 }],
    ["an answer of nothing", { ...RELEASED, ground_truth: { "1": { module_protocol: "?" }, "2": {} } }],
    ["a level of six", { ...LABELLED, level: 6 }],
    ["a label of nothing", { scenario_id: "S", modules: [{ text: "a", label: "?" }] }],
    ["a label of nothing, in our form", { scenario: "s", modules: [{ id: "a", label: "?" }] }],
    ["a role whose answer is nothing", { ...ROLES, difficulty: "hard", modules: [{ ...ROLES.modules[0], gt: "?" }] }],
  ])("ignores %s if answers are not needed", (_name, record) => {
    const { scenarios, excluded } = readScenarios([record]);
    expect(excluded).toEqual([]);
    expect(scenarios[0]?.modules.map(({ label }) => label).filter((label) => label === "?")).toEqual([]);
  });

  it('reads an exclusion "no X" as X', () => {
    const { scenarios } = readScenarios({
      scenario_id: "S",
      modules: [{ text: "a", excludes: ["no REST", "Without any ballots"] }],
    });
    expect(scenarios[0]?.modules[0]?.passages.slice(1)).toEqual([
      { kind: "mustNot", text: "REST" },
      { kind: "mustNot", text: "ballots" },
    ]);
  });

  it("is not fooled by members of every object", () => {
    const sly = JSON.parse('{"__proto__": {"scenario": "s"}, "modules": [{"id": "a"}]}');
    expect(readScenarios(sly).excluded).toEqual([
      {
        scenario_id: undefined,
        where: "__proto__",
        because: "is not known; there are: scenario, description, topology, modules",
      },
    ]);
    const heir: unknown = Object.create({ text: "a" });
    const excluded = readScenarios({ scenario_id: "S", modules: [heir] }).excluded;
    expect(excluded).toEqual([{ scenario_id: "S", where: "modules[0].text", because: "is missing" }]);
  });

  it.each([5, null, "text", true])("refuses %j as a document", (document) => {
    expect(() => readScenarios(document)).toThrow("it holds no scenario");
  });

  it("rejects too many scenarios", () => {
    expect(() => readScenarios(Array(10_001).fill(LABELLED))).toThrow("there are 10001 scenarios, and one file may have 10000");
  });
});

describe("parseScenarioText()", () => {
  it("reads records of different forms line by line, and reports excluded lines", async () => {
    const lines = [LABELLED, ROLES, RELEASED, OWN].map((each) => JSON.stringify(each));
    const text = `\ufeff${lines[0]}\r\n\r\n{"scenario_id": "cut off", "mod\r\n${lines[1]}\r\n${lines[2]}\r\n${lines[3]}\r\n{"scenario_id":"X","modules":[{}]}\r\n[1]\r\n`;
    const { scenarios, excluded } = await parseScenarioText(text, "corpus.txt");
    expect(scenarios.map(({ id }) => id)).toEqual(["RB-L1-90", "RB-L2-90", "L2-Q90", "harbour"]);
    expect(excluded).toEqual([
      { scenario_id: undefined, where: "line 3", because: "is not JSON" },
      { scenario_id: "X", where: "line 7: modules[0].text", because: "is missing" },
      { scenario_id: undefined, where: "line 8", because: "must be an object" },
    ]);
  });

  it("reads YAML, also of several documents", async () => {
    const text =
      "scenario: a\nmodules:\n  - id: x\n    text: >\n      Says\n      hello.\n---\nscenario: b\nmodules: [{id: y}]\n";
    const { scenarios } = await parseScenarioText(text);
    expect(scenarios.map(({ id, modules }) => [id, modules[0]?.passages])).toEqual([
      ["a", [{ kind: "need", text: "Says hello.\n" }]],
      ["b", []],
    ]);
  });
});
