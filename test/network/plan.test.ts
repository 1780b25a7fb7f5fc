import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Plan, parsePlan, readPlan } from "../../apps/up/index.js";
import { AgentError } from "../../src/index.js";
import { Site } from "./running.js";

const GOOD = `decisions:
  desk: { selected_protocol: A2A }
  till: { selected_protocol: ACP }
modules:
  - id: desk
    neighbours: [till]
    demo: true
  - id: till
    command: [node, till.js]
    port: 4102
    ready: { path: /health, timeout: 3 }
`;

const parse = (text: string): Promise<Plan> => parsePlan(text, { name: "plan.yaml", folder: "/nowhere" });

async function refusal(text: string): Promise<AgentError> {
  const thrown = await parse(text).catch((error: unknown) => error);
  if (thrown instanceof AgentError) return thrown;
  throw new Error("nothing was refused");
}

describe("plans", () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  });
  afterAll(() => site.close());

  it("are read as YAML and as JSON", async () => {
    const plan = await parse(GOOD);
    expect(plan.network.links.map(({ src, dst, protocol }) => [src, dst, protocol])).toEqual([["desk", "till", ["A2A", "ACP"]]]);
    expect(plan.network.bridges).toHaveLength(1);
    const { modules, decisions } = plan;
    expect((await parse(JSON.stringify({ modules, decisions }, undefined, 2))).network).toEqual(plan.network);
  });

  it.each([
    ["an unknown member", GOOD.replace("port: 4102", "prot: 4102"), "plan.yaml:10: modules[1].prot is unknown"],
    [
      "neither command, agent, url nor demo",
      GOOD.replace("    demo: true\n", ""),
      "plan.yaml:5: modules[0] must have exactly one of command, agent, url and demo, not none",
    ],
    [
      "two of command, agent, url and demo",
      GOOD.replace("demo: true", "demo: true\n    agent: ./a.ts"),
      "plan.yaml:5: modules[0] must have exactly one of command, agent, url and demo, not agent and demo",
    ],
    [
      "a secret in the plan",
      GOOD.replace("demo: true", "demo: true\n    credentials: { bearer: hunter2 }"),
      "plan.yaml:8: modules[0].credentials.bearer must be { env: NAME } or { file: PATH }: a plan references secrets and does not contain them",
    ],
    [
      "a port beside a url",
      GOOD.replace("command: [node, till.js]", "url: http://127.0.0.1:9/"),
      "plan.yaml:10: modules[1].port is not allowed with url: the agent is already running",
    ],
    [
      "a pin that contradicts the decision",
      GOOD.replace("demo: true", "demo: true\n    pin: acp@0.2"),
      "plan.yaml:8: modules[0].pin names acp, but the decision is for a2a",
    ],
    [
      "an unknown version",
      GOOD.replace("demo: true", "demo: true\n    pin: a2a@7"),
      "plan.yaml:8: modules[0].pin names unknown version 7; available: 1.0, 0.3",
    ],
    [
      "an unknown neighbour",
      GOOD.replace("[till]", "\n      - till\n      - bank"),
      'plan.yaml:8: modules[0].neighbours[1] is rejected: "desk" has the neighbour "bank", which is not a module',
    ],
    [
      "a link that loses security",
      GOOD.replace("A2A", "ANP"),
      "plan.yaml:6: modules[0].neighbours[0] is rejected: the link from desk to till would lose verified identity",
    ],
    [
      "a requirement that no link keeps",
      GOOD.replace("demo: true", "demo: true\n    requires: [end-to-end-secrecy]"),
      "plan.yaml:6: modules[0].neighbours[0] is rejected",
    ],
    [
      "a missing decision",
      GOOD.replace("  till: { selected_protocol: ACP }\n", ""),
      'plan.yaml:1: decisions.till is rejected: nothing was decided about module "till"',
    ],
    [
      "neither decisions nor a scenario",
      GOOD.slice(GOOD.indexOf("modules:")),
      "plan.yaml:1: the plan must have either decisions or scenario",
    ],
    ["a mistake in the YAML", GOOD.replace("[till]", "[till"), "plan.yaml:7: "],
    ["a mistake in the JSON", '{\n  "modules": [}\n', "plan.yaml:2: "],
    [
      "a number where text belongs",
      GOOD.replace("port: 4102", "env: { COUNT: 3 }"),
      "plan.yaml:10: modules[1].env.COUNT must be text: put it in quotes",
    ],
    [
      "an identity of a program that is not served here",
      GOOD.replace("port: 4102", "identity: till.json"),
      "plan.yaml:10: modules[1].identity is only for agents served by koine up",
    ],
    [
      "settings of an unknown protocol",
      `${GOOD}settings: { a2b: { x: 1 } }\n`,
      "plan.yaml:12: settings.a2b is not a known protocol; available: a2a",
    ],
    [
      "an unknown setting",
      `${GOOD}settings:\n  anp: { loopbackHtp: true }\n`,
      "plan.yaml:13: settings.anp.loopbackHtp is unknown; did you mean loopbackHttp?",
    ],
  ])("with %s are rejected with file, line and member", async (_, text, problem) => {
    expect((await refusal(text)).message).toContain(problem);
  });

  it("never quote a secret in an error", async () => {
    const { message } = await refusal(GOOD.replace("demo: true", "demo: true\n    credentials: { bearer: hunter2 }"));
    expect(message).not.toContain("hunter2");
  });

  it("take decisions from a file, as the router prints them", async () => {
    const decisions = ["desk", "till"].map((id) => ({
      scenario_id: "s",
      module_id: id,
      selected_protocol: "Agora",
      evidence_spans: [],
    }));
    await site.write("decisions.json", JSON.stringify({ decisions }));
    const file = await site.write("plan.yaml", GOOD.replace(/decisions:[\s\S]*?modules/, "decisions: ./decisions.json\nmodules"));
    expect((await readPlan(file)).network.nodes.map(({ protocol }) => protocol)).toEqual(["Agora", "Agora"]);
    await site.write("decisions.json", "{}");
    await expect(readPlan(file)).rejects.toThrow("decisions is rejected: ./decisions.json contains no decisions");
  });

  it("are routed if they have a scenario, and keep its requirements", async () => {
    const scenario = `scenario:
  scenario: shop
  topology: chain
  modules:
    - { id: desk, requires: [streaming], only: [A2A] }
    - { id: till, only: [ACP] }
modules:
  - { id: desk, demo: true }
  - { id: till, demo: true }
`;
    const { network, modules } = await parse(scenario);
    expect(network.nodes.map(({ protocol }) => protocol)).toEqual(["A2A", "ACP"]);
    expect(network.links.map(({ src, dst }) => [src, dst])).toEqual([
      ["desk", "till"],
      ["till", "desk"],
    ]);
    expect(modules[0]?.requires).toEqual(["streaming"]);
    expect((await refusal(scenario.replace("[A2A]", "[SOAP]"))).message).toMatch(/^plan\.yaml:1: scenario is rejected: .*SOAP/);
  });

  it("report undecided modules, unless they name a default", async () => {
    const open = "scenario: { scenario: s, modules: [{ id: a }] }\nmodules:\n  - { id: a, demo: true }\n";
    expect((await refusal(open)).message).toBe(
      'plan.yaml:1: decisions.a.selected_protocol is rejected: no protocol was chosen for module "a"',
    );
    expect((await parse(`abstain: acp\n${open}`)).network.nodes[0]?.protocol).toBe("ACP");
  });

  it("that are not files are refused", async () => {
    await expect(readPlan(`${site.folder}/absent.yaml`)).rejects.toMatchObject({ code: "not_found" });
    await expect(readPlan(site.folder)).rejects.toMatchObject({ code: "invalid_message" });
  });
});
