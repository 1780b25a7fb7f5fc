import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { type Decision, featureRows } from "../../src/router/index.js";
import { askPerson, type Undecided } from "./route.js";

const ROWS = featureRows().filter(({ id }) => id === "a2a" || id === "acp");

function undecided(name: string, feasible = ROWS): Undecided {
  const decision: Decision = {
    scenario_id: "s",
    module_id: name,
    selected_protocol: null,
    evidence_spans: [],
    rationale: "Nothing in the text decides.",
    margin: 0,
    abstained: true,
    rejected: [{ protocol: "ANP", because: "ruled out" }],
  };
  return { name, decisions: [decision], modules: [{ id: name, passages: [{ kind: "need", text: "Hm \u001b[2J." }] }], feasible };
}

/** The choices made with this input, and the printed questions. */
async function asked(questions: readonly Undecided[], typed: string) {
  const input = new PassThrough();
  const output = new PassThrough();
  input.end(typed);
  const answers = await askPerson(questions, { input, output }, new AbortController().signal);
  output.end();
  const chosen = questions.map(({ decisions }) => decisions.map((each) => answers.get(each)?.selected_protocol));
  return { answers, chosen: chosen.flat(), shown: await text(output) };
}

describe("askPerson()", () => {
  it("takes a number of the list, for one question after the other", async () => {
    const { chosen, shown } = await asked([undecided("x"), undecided("y")], "2\n1\n");
    expect(chosen).toEqual(["ACP", "A2A"]);
    expect(shown).toMatch(/x is not decided by its text\.\n {2}Hm \ufffd\[2J\.\n {2}1 {2}A2A .*\n {2}2 {2}ACP/);
  });

  it("keeps `abstained`, and gives the reason for the others", async () => {
    const question = undecided("x");
    const { answers } = await asked([question], "1\n");
    expect([...answers.values()]).toEqual([
      {
        ...question.decisions[0],
        selected_protocol: "A2A",
        rejected: [
          { protocol: "ANP", because: "ruled out" },
          { protocol: "ACP", because: "a person was asked and chose another" },
        ],
      },
    ]);
  });

  it("asks again after an invalid number, and gives up in the end", async () => {
    expect((await asked([undecided("x")], "acp\n7\n2\n")).chosen).toEqual(["ACP"]);
    expect((await asked([undecided("x"), undecided("y")], "a\n0\n-1\n2\n")).chosen).toEqual([undefined, "ACP"]);
  });

  it("leaves a question open for an empty line, and all later ones when the input ends", async () => {
    expect((await asked([undecided("x"), undecided("y")], "\n2\n")).chosen).toEqual([undefined, "ACP"]);
    expect((await asked([undecided("x"), undecided("y")], "2\n")).chosen).toEqual(["ACP", undefined]);
  });

  it("does not ask where nothing is possible", async () => {
    expect(await asked([undecided("x", [])], "1\n")).toMatchObject({ chosen: [undefined], shown: "" });
  });

  it("stops when it is interrupted", async () => {
    const interrupt = new AbortController();
    const waiting = askPerson([undecided("x")], { input: new PassThrough(), output: new PassThrough() }, interrupt.signal);
    interrupt.abort();
    expect((await waiting).size).toBe(0);
  });
});
