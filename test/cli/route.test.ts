import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorkspace, koine, type Outcome, outcomeOf, startKoine, type Workspace } from "./koine.js";

/** `koine route` as users run it. The router's reading of prose is tested elsewhere: here files allow and exclude protocols. */

const HARBOUR = `
scenario: harbour
topology: star:dues
modules:
  - id: dues
    text: Books each fee once.
    only: [acp]
  - id: log
    text: "Paints \\e[31mred\\e[0m lines."
    only: [Agora]
  - id: nothing
    name: Nothing
`;

const FIELDS = [
  "scenario_id",
  "module_id",
  "selected_protocol",
  "evidence_spans",
  "rationale",
  "margin",
  "abstained",
  "rejected",
];

interface Decisions {
  readonly decisions: readonly { readonly module_id: string; readonly selected_protocol: string | null }[];
}

let workspace: Workspace;
let harbour: string;

beforeAll(async () => {
  workspace = await createWorkspace();
  harbour = await workspace.write("harbour.yaml", HARBOUR);
});
afterAll(() => workspace.clear());

const route = (...args: readonly string[]): Promise<Outcome> => koine(["route", ...args]);

function chosenIn({ stdout }: Outcome): Readonly<Record<string, string | null>> {
  const { decisions } = JSON.parse(stdout) as Decisions; // the output of `route -o json`
  return Object.fromEntries(decisions.map((each) => [each.module_id, each.selected_protocol]));
}

describe("koine route", () => {
  test("--record strict leaves the four members of the specification, and no other", async () => {
    const { stdout } = await route(harbour, "-o", "json", "--record", "strict");
    const { decisions } = JSON.parse(stdout) as { readonly decisions: readonly object[] };
    const strict = ["module_id", "selected_protocol", "evidence_spans", "rationale"];
    expect(decisions.map((each) => Object.keys(each))).toEqual([strict, strict, strict]);
  });

  test("--requires shows the reason in the table", async () => {
    expect((await route("--requires", "streaming")).stdout).toContain("A2A       1.00    Needs streaming.");
    expect((await route("--requires", "audit-trail")).stdout).toContain(
      "No requirement decides; others can carry what is demanded too.",
    );
  });

  test("a malformed file is refused with the line, and with what was meant", async () => {
    const file = await workspace.write(
      "slip.yaml",
      "scenario: s\nmodules:\n  - id: a\n    text: x\n  - id: b\n    requirs: [x]\n",
    );
    const { code, stderr } = await route(file);
    expect(code).toBe(1);
    expect(stderr).toContain("slip.yaml: line 6: modules[1].requirs is not known; did you mean requires?");
  });

  test("--learned shows how calls went by each protocol, and is refused without --explain", async () => {
    const { code, stdout } = await route(
      "--requires",
      "streaming",
      "--explain",
      "--learned",
      workspace.path("none"),
      "--context",
      "x",
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/learned {3}A2A {2}not tried, in x\n {12}ACP {2}not tried, in x\n {12}ANP {2}not tried, in x/);
    expect(await route("--requires", "streaming", "--learned", workspace.path("none"))).toMatchObject({ code: 2 });
  });

  test("JSON is one object with the decisions, their members in order, and nothing else", async () => {
    const outcome = await route(harbour, "-o", "json");
    const document = JSON.parse(outcome.stdout) as Decisions & { readonly decisions: readonly object[] };
    expect(Object.keys(document)).toEqual(["decisions"]);
    expect(document.decisions.map((each) => Object.keys(each))).toEqual([FIELDS, FIELDS, FIELDS]);
    expect(chosenIn(outcome)).toEqual({ dues: "ACP", log: "Agora", nothing: null });
    expect(outcome.stderr).toContain("1 module is undecided");
    expect(outcome.code).toBe(0);
  });

  test("text is a table, and with --explain the reasons, safe for a terminal", async () => {
    const { stdout, code } = await route(harbour, "--explain");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^scenario +module +protocol +margin +evidence\nharbour +dues +ACP +\d\.\d\d/);
    expect(stdout).toMatch(/\ndues: ACP, margin \d\.\d\d\n/);
    expect(stdout).toMatch(/ rejected {2}A2A /);
    expect(stdout).toMatch(/ needs {5}identity +select /);
    expect(stdout).toContain("  decided   by the constraints, which leave no other\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must be absent
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
  });

  test("a default decides what the text does not, and stdin is a file like any other", async () => {
    const child = startKoine(["route", "-", "-o", "json", "--abstain", "default:anp"]);
    child.stdin?.end(`\ufeff${HARBOUR.replaceAll("\n", "\r\n")}`);
    expect(chosenIn(await outcomeOf(child))).toEqual({ dues: "ACP", log: "Agora", nothing: "ANP" });
  });

  test("one module needs no file", async () => {
    const [words, needs, both] = await Promise.all([
      route("--text", "Somebody has to do something.", "-o", "json", "--abstain", "default:a2a"),
      route("--requires", "end-to-end-secrecy, Verified Identity", "-o", "json", "--candidates", "agora,ANP"),
      route("--text", "x", harbour),
    ]);
    expect(Object.keys(chosenIn(words))).toEqual(["text-M1"]);
    expect(chosenIn(needs)).toEqual({ "text-M1": "ANP" });
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("a file has its own")]);
  });

  test("a malformed scenario is an error, or is skipped as a whole and reported", async () => {
    const lines = [
      '{"scenario_id":"A","modules":[{"text":"a","locks":["ACP"]}]}',
      '{"scenario_id":"B","modules":[{"text":"b"},{}]}',
    ];
    const file = await workspace.write("two.jsonl", `${lines.join("\n")}\n{"cut`);
    const [strict, lenient] = await Promise.all([route(file, "-o", "json"), route(file, "-o", "json", "--skip-malformed")]);
    expect([strict.code, strict.stdout]).toEqual([1, ""]);
    expect(JSON.parse(strict.stderr)).toMatchObject({
      error: {
        code: "malformed",
        message: expect.stringContaining("line 2: modules[1].text is missing (scenario B); and 1 more"),
      },
    });
    expect(chosenIn(lenient)).toEqual({ "A-M1": "ACP" });
    expect(lenient.stderr).toMatch(/left out: .*line 2: modules\[1\]\.text is missing[\s\S]*left out: .*line 3 is not JSON/);
  });

  test("a file that would overflow the parser is reported as an error", async () => {
    const { code, stdout, stderr } = await route(await workspace.write("deep.yaml", "- ".repeat(100_000)));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^error: .*deep\.yaml: nests deeper than 32 levels\n$/);
  });

  test("the schema and the feature model are printed", async () => {
    const [schema, table, model] = await Promise.all([
      route("--schema"),
      route("--capabilities", "--candidates", "acp,anp"),
      route("--capabilities", "-o", "json"),
    ]);
    expect(JSON.parse(schema.stdout)).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema" });
    expect(table.stdout).toMatch(/^capability +facet +ACP +ANP/);
    const { capabilities, protocols } = JSON.parse(model.stdout) as { capabilities: unknown[]; protocols: { name: string }[] };
    expect(capabilities.length).toBeGreaterThan(20);
    expect(protocols.map(({ name }) => name)).toEqual(["A2A", "ACP", "Agora", "ANP"]);
  });
});
