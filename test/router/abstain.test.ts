import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { AgentError, CancelSource } from "../../src/envelope/index.js";
import {
  type Decision,
  defaultCandidates,
  lintDecision,
  modelOpinion,
  type RouterSettings,
  route,
} from "../../src/router/index.js";
import { openAiModel } from "../../src/router/models/index.js";
import { type Asked, type ScriptedModelServer, scriptedModelServer } from "../scripted-model.js";
import { decide, decideText, moduleSaying, scenarioOf } from "./scenarios.js";
import { UNDECIDED_TEXTS } from "./undecided-texts.js";

const POEM = "Grey geese over the salt marsh, / the evening folds its wings, / and somewhere a gate / remembers the wind.";
const NOTHINGS: Readonly<Record<string, string>> = {
  "no text": "",
  "blanks and marks": " \n\t … !? ",
  "a poem": POEM,
  Japanese: "みんなが楽しく使えるように、きれいな画面にしてください。",
  Russian: "Сделайте, пожалуйста, красиво и удобно для всех.",
  "small talk": "Please make it nice.",
  "nonsense words": "Blorf snirp quandle, vish tarn ooble.",
};

/** Text in other languages decides nothing. */
const FOREIGN = [
  "Die Abteilung möchte, dass alles hübsch aussieht und niemand sich ärgert.",
  "Der Kunde wünscht sich eine Lösung, die bis Freitag fertig ist und wenig kostet.",
  "Nous voulons que ce soit joli et que personne ne se plaigne.",
  "Le comptoir ouvre à huit heures et ferme à midi.",
  "Queremos que la pantalla sea bonita y que todos estén contentos.",
  "O balcão abre às oito e fecha ao meio-dia.",
  "Vogliamo una cosa semplice che piaccia a tutti.",
  "Wij willen dat het er mooi uitziet en dat niemand boos wordt.",
  "Vi vill att det ska se fint ut och att ingen blir arg.",
  "Chcemy, żeby wszystko ładnie wyglądało.",
];
/** What could be said of any system. */
const VAGUE = [
  "hello",
  "An agent does some work for another agent.",
  "Agents work together.",
  "Which protocol should I use?",
  "The agent processes information and produces output.",
];

describe("a text that decides nothing", () => {
  it("is left undecided in other languages", async () => {
    for (const text of FOREIGN)
      expect(await decideText(text), text).toMatchObject({ selected_protocol: null, abstained: true, margin: 0 });
  });

  it("is left undecided where it justifies no protocol", async () => {
    for (const text of UNDECIDED_TEXTS) expect((await decideText(text)).selected_protocol, text).toBeNull();
  });

  for (const text of VAGUE)
    it(`is left undecided where it names no need: ${text}`, async () => {
      expect(await decideText(text)).toMatchObject({ selected_protocol: null, abstained: true, margin: 0 });
    });

  for (const [what, text] of Object.entries(NOTHINGS))
    it(`is left open: ${what}`, async () => {
      const decision = await decideText(text);
      expect(decision).toMatchObject({ selected_protocol: null, abstained: true, margin: 0, evidence_spans: [] });
      expect(decision.rationale).toMatch(/^Nothing in the text decides[.;]/);
      expect(lintDecision(decision, { input: [text], features: defaultCandidates() })).toEqual([]);
    });

  it("is left undecided too if the policy is to ask", async () => {
    expect(await decideText(POEM, { abstain: { kind: "ask" } })).toEqual(await decideText(POEM));
  });

  it("takes the default, and still reports that it abstained", async () => {
    for (const protocol of ["Agora", "agora"]) {
      const decision = await decideText(POEM, { abstain: { kind: "default", protocol } });
      expect(decision).toMatchObject({ selected_protocol: "Agora", abstained: true, margin: 0, evidence_spans: [] });
      expect(decision.rejected.map((each) => each.protocol)).toEqual(["A2A", "ACP", "ANP"]);
      expect(lintDecision(decision, { input: [POEM], features: defaultCandidates() })).toEqual([]);
    }
  });

  it("does not take a default that is not feasible, or not a candidate", async () => {
    const never = moduleSaying(POEM, { never: ["Agora"] });
    for (const protocol of ["Agora", "SAGE"])
      expect(await decide(never, { abstain: { kind: "default", protocol } })).toMatchObject({
        selected_protocol: null,
        abstained: true,
      });
  });

  it("is not settled by a default if constraints contradict each other", async () => {
    const torn = moduleSaying("", { requires: ["end-to-end-secrecy"], never: ["ANP"] });
    expect((await decide(torn, { abstain: { kind: "default", protocol: "A2A" } })).selected_protocol).toBeNull();
  });
});

describe("a text that decides", () => {
  it("takes no default", async () => {
    const text = "The two agents chat to and fro, question and answer, with follow-ups.";
    const settings: RouterSettings = { abstain: { kind: "default", protocol: "ANP" } };
    expect(await decideText(text, settings)).toEqual(await decideText(text));
  });
});

describe("a model that is asked about undecided text", () => {
  const opened: ScriptedModelServer[] = [];
  afterEach(async () => {
    for (const server of opened.splice(0)) await server.close();
  });

  /** A server whose model always calls the forced function with these arguments. */
  async function modelSaying(
    given: object,
  ): Promise<{ readonly settings: RouterSettings; readonly server: ScriptedModelServer }> {
    const server = await scriptedModelServer((_asked: Asked, response: ServerResponse) => {
      const call = { name: "protocol_selection", arguments: JSON.stringify(given) };
      const message = { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: call }] };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
      return undefined;
    });
    opened.push(server);
    const opinion = modelOpinion({ model: openAiModel({ baseUrl: server.baseUrl, model: "small" }) });
    return { settings: { abstain: { kind: "model", opinion } }, server };
  }
  const ANSWER = {
    module_id: "m",
    selected_protocol: "Agora",
    evidence_spans: ["a gate"],
    rationale: 'Needs a governed routine ("a gate").',
  };

  it("is followed if it names a feasible protocol, and the record names its prompt", async () => {
    const { settings, server } = await modelSaying(ANSWER);
    const decision = await decideText(POEM, settings);
    expect(decision).toMatchObject({ selected_protocol: "Agora", abstained: true, margin: 0, evidence_spans: ["a gate"] });
    expect(decision.prompt_sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(decision).at(-1)).toBe("prompt_sha256");
    expect(lintDecision(decision, { input: [POEM], features: defaultCandidates() })).toEqual([]);
    expect(server.asked).toHaveLength(1);
  });

  it("is refused if it names a protocol that a constraint excludes, however often it repeats it", async () => {
    const { settings, server } = await modelSaying(ANSWER);
    const decision = await decide(moduleSaying(POEM, { never: ["Agora"] }), settings);
    expect(decision).toMatchObject({ selected_protocol: null, abstained: true });
    expect(decision).not.toHaveProperty("prompt_sha256");
    expect(server.asked.length).toBeGreaterThan(0);
  });

  it("is refused if it quotes text that does not exist", async () => {
    const { settings } = await modelSaying({
      ...ANSWER,
      evidence_spans: ["a quorum votes"],
      rationale: "Needs a governed routine.",
    });
    expect((await decideText(POEM, settings)).selected_protocol).toBeNull();
  });

  it("is not asked if the text decides, or no protocol is feasible", async () => {
    const { settings, server } = await modelSaying(ANSWER);
    expect((await decideText("The two agents chat to and fro, question and answer.", settings)).selected_protocol).toBe("A2A");
    const torn = moduleSaying(POEM, { only: ["A2A"], never: ["A2A"] });
    expect((await decide(torn, settings)).selected_protocol).toBeNull();
    expect(server.asked).toEqual([]);
  });

  it("cannot choose an infeasible protocol even if its answer is not validated", async () => {
    const about = async () =>
      ({
        kind: "opinion",
        opinion: { protocol: "Agora", evidence_spans: [], rationale: "It fits.", prompt_sha256: "ab".repeat(32) },
      }) as const;
    const decision: Decision = await decide(moduleSaying(POEM, { never: ["Agora"] }), {
      abstain: { kind: "model", opinion: { about } },
    });
    expect(decision.selected_protocol).toBeNull();
  });
});

describe("an unavailable second opinion", () => {
  it("is reported with the module and the reason, and leaves it undecided", async () => {
    const reports: string[] = [];
    const about = async () => ({ kind: "none", because: "no model is available" }) as const;
    const decision = await decide(moduleSaying(POEM), {
      abstain: { kind: "model", opinion: { about } },
      onProblem: (module, because) => reports.push(`${module}: ${because}`),
    });
    expect(decision).toMatchObject({ selected_protocol: null, abstained: true });
    expect(reports).toEqual([`${decision.module_id}: no model is available`]);
  });
});

describe("aborted routing", () => {
  it("ends with the reason", async () => {
    const cancel = new CancelSource();
    const stop = new AgentError("cancelled", "nobody waits any more");
    cancel.cancel(stop);
    await expect(route(scenarioOf(moduleSaying(POEM)), {}, cancel)).rejects.toBe(stop);
  });
});
