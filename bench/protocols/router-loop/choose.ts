import { readFileSync } from "node:fs";
import type { z } from "zod";
import { protocols } from "../../../src/public/protocols.js";
import { featureRows, parseScenarioText, route, rowNamed } from "../../../src/router/index.js";
import { packageFile } from "../../../src/transport/node/package-file.js";
import type { Arm, ROUTING } from "../result/plan.js";

export type Routing = z.infer<typeof ROUTING>;

/** The texts from which the router chooses, by the scenario of the benchmark. No protocol is named in them. */
const TEXTS: Readonly<Record<string, string>> = {
  docqa: "g1-qa",
  "streaming-queue": "s1-queue",
  "fail-storm": "f1-storm",
  safety: "m1-doctors",
};
/** The module whose protocol all requests use, in a scenario where only one is called. */
const CALLED: Readonly<Record<string, string>> = {
  "streaming-queue": "worker",
  "fail-storm": "searcher",
  safety: "doctor",
};
export const ROUTER_ARM = "router";

/** Lets the router choose a protocol for each module of a scenario, among those that are measured. */
export async function chooseProtocols(
  scenario: string,
  measured: readonly string[],
  ranking?: readonly string[],
): Promise<Routing> {
  const name = TEXTS[scenario];
  if (name === undefined) throw new Error(`the router has no text about ${scenario}`);
  const file = `${name}.yaml`;
  const { scenarios } = await parseScenarioText(
    readFileSync(packageFile(`bench/protocols/router-loop/scenarios/${file}`), "utf8"),
    file,
  );
  const rows = featureRows();
  const candidates = rows.filter(({ id }) => measured.includes(id));
  const { decisions } = await route(scenarios, { candidates, ...(ranking === undefined ? {} : { ranking }) });
  const made = decisions.map(({ module_id: module, selected_protocol: chosen, rationale }) => ({
    ...{ module, rationale },
    protocol: chosen === null ? undefined : rowNamed(chosen, rows)?.id,
  }));
  const without = made.find(({ protocol }) => protocol === undefined);
  return {
    scenario: scenarios[0]?.id ?? name,
    decisions: made.flatMap(({ protocol, ...decision }) => (protocol === undefined ? [] : { ...decision, protocol })),
    ...(without && { infeasible: `${without.module}: ${without.rationale}` }),
  };
}

/** What is said where the router has no plan. */
export function infeasibleText({ scenario, infeasible }: Routing): string {
  return `The router has no feasible plan for ${scenario} among the protocols that are measured. ${infeasible}`;
}

/** The arm that executes the router's plan. */
export function routerArm(scenario: string, { decisions }: Pick<Routing, "decisions">): Arm {
  const protocol = calledProtocol(scenario, { decisions });
  const arm = { id: ROUTER_ARM, protocol, implementation: "koine", features: "envelope" } as const;
  if (CALLED[scenario] === undefined)
    return { ...arm, assign: Object.fromEntries(decisions.map((each) => [each.module, each.protocol])) };
  const needsIdentity = protocols.find(({ id }) => id === protocol)?.needsIdentity === true;
  return needsIdentity ? { ...arm, identities: true } : arm;
}

/** The protocol of the module that is called; in a scenario with several such modules, that of the first. */
export function calledProtocol(scenario: string, { decisions }: Pick<Routing, "decisions">): string {
  const own = decisions.find(({ module }) => module === CALLED[scenario]) ?? decisions[0];
  if (own === undefined) throw new Error("the router decided about no module");
  return own.protocol;
}
