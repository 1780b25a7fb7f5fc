import { readFileSync } from "node:fs";
import { featureRows, parseScenarioText, route, rowNamed } from "../../../src/router/index.js";
import { packageFile } from "../../../src/transport/node/package-file.js";
import type { Arm, Plan } from "../result/plan.js";

export type Routing = NonNullable<Plan["routing"]>;

/** The texts from which the router chooses, by the scenario of the benchmark. No protocol is named in them. */
const TEXTS: Readonly<Record<string, string>> = { docqa: "g1-qa", "streaming-queue": "s1-queue" };
/** The module whose protocol all requests use, in a scenario where only one is called. */
const CALLED: Readonly<Record<string, string>> = { "streaming-queue": "worker" };
export const ROUTER_ARM = "router";

/** Lets the router choose a protocol for each module of a scenario. Throws Error if it chooses none that is measured. */
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
  return {
    scenario: scenarios[0]?.id ?? name,
    decisions: decisions.map(({ module_id: module, selected_protocol: chosen, rationale }) => {
      const row = chosen === null ? undefined : rowNamed(chosen, rows);
      if (row === undefined) throw new Error(`the router chooses no protocol for the module ${module}: ${rationale}`);
      return { module, protocol: row.id, rationale };
    }),
  };
}

/** The arm that executes the router's plan. */
export function routerArm(scenario: string, { decisions }: Routing): Arm {
  const called = CALLED[scenario];
  const [first] = decisions;
  const own = decisions.find(({ module }) => module === called) ?? first;
  if (own === undefined) throw new Error("the router decided about no module");
  const arm = { id: ROUTER_ARM, protocol: own.protocol, implementation: "koine", features: "envelope" } as const;
  return called === undefined
    ? { ...arm, assign: Object.fromEntries(decisions.map(({ module, protocol }) => [module, protocol])) }
    : arm;
}
