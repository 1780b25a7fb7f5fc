import { type Arm, type Condition, type Plan, type PlannedFault, SCHEMA_VERSION } from "../result/index.js";
import type { PlanParts, Scenario } from "../scenarios/scenario.js";
import { MAX_AGENT_PROCESSES, planRuns } from "./plan-runs.js";

export interface ArmChoice {
  readonly protocols: readonly string[];
  readonly implementations: readonly Arm["implementation"][];
  readonly features: readonly Arm["features"][];
  /** Whether a protocol has an official implementation; without one it has no such arm. Default: each has one. */
  hasOfficial?(protocol: string): boolean;
  /** Whether a protocol is measured with identities, without, or both. Default: without. */
  identitiesOf?(protocol: string): IdentityUse;
}

/** How a protocol is used: `also` is measured both ways. */
export type IdentityUse = "never" | "also" | "always";

const WITH_IDENTITIES: Readonly<Record<IdentityUse, readonly boolean[]>> = {
  never: [false],
  also: [false, true],
  always: [true],
};

/** Every protocol in every implementation with every profile, and the two controls of the first arm. */
export function planArms(choice: ArmChoice, { doseMs }: Pick<Scenario, "doseMs">): Arm[] {
  const { protocols, implementations, features, hasOfficial = () => true, identitiesOf = () => "never" } = choice;
  const arms = protocols.flatMap((protocol) =>
    implementations.flatMap((implementation) => {
      if (implementation === "official" && !hasOfficial(protocol)) return [];
      const use = implementation === "official" ? "never" : identitiesOf(protocol);
      return WITH_IDENTITIES[use].flatMap((identified) =>
        features.map((profile): Arm => {
          const words = [
            protocol,
            ...(identified && use === "also" ? ["signed"] : []),
            ...(implementation === "official" ? ["official"] : []),
            ...(profile === "full" ? ["full"] : []),
          ];
          const arm = { id: words.join(" "), protocol, implementation, features: profile };
          return identified ? { ...arm, identities: true } : arm;
        }),
      );
    }),
  );
  const [first] = arms;
  if (first === undefined) throw new Error("there is no protocol to measure");
  return [
    ...arms,
    { ...first, id: `${first.id} again`, control: "same", of: first.id },
    { ...first, id: `${first.id} +${doseMs} ms`, control: "dose", of: first.id, doseMs },
  ];
}

export interface OfferedLoad {
  readonly perSecond: number;
  /** Where it was chosen as a share of the measured capacity. */
  readonly ofCapacity?: number;
}

export interface ConditionChoice {
  readonly clients: number;
  /** None: a closed loop. */
  readonly rates: readonly OfferedLoad[];
  readonly arrivals: "poisson" | "constant";
  readonly inFlight: number;
  /** Numbers of agents, each a condition of its own under the first load; none: that of the settings. */
  readonly agents?: readonly number[];
  /** One more condition in which the coordinator is killed. */
  readonly coordinator?: Condition["coordinator"];
  /** Mean service times of scripted models, each a condition of its own; none: that of the model. */
  readonly serviceMs?: readonly number[];
  /** Further live models by name, each a condition of its own. */
  readonly models?: readonly string[];
  /** One more condition for each of these. */
  readonly disturb?: readonly NonNullable<Condition["disturb"]>[];
  /** One more condition for each list. */
  readonly faults: readonly { readonly name: string; readonly planned: readonly PlannedFault[] }[];
}

/** Each load without faults, then the first load with each set of faults. */
export function planConditions({
  clients,
  rates,
  arrivals,
  inFlight,
  agents = [],
  serviceMs = [],
  models = [],
  disturb = [],
  faults,
  coordinator,
}: ConditionChoice): Condition[] {
  const loads: Condition[] =
    rates.length === 0
      ? [{ id: `closed-${clients}`, load: { loop: "closed", clients }, faults: [] }]
      : rates.map(({ perSecond, ofCapacity }) => ({
          id: `${arrivals}-${ofCapacity === undefined ? perSecond : `${Math.round(ofCapacity * 100)}%`}`,
          load: { loop: "open", perSecond, arrivals, inFlight },
          faults: [],
          ...(ofCapacity === undefined ? {} : { ofCapacity }),
        }));
  const [first] = loads;
  if (first === undefined) return loads;
  const sizes = agents.map((count) => ({ ...first, id: `${first.id} of ${count} agents`, agents: count }));
  return [
    ...loads,
    ...sizes,
    ...(coordinator === undefined
      ? []
      : [{ ...first, id: `${first.id} coordinator killed at ${coordinator.killAt}`, coordinator }]),
    ...serviceMs.map((mean) => ({ ...first, id: `${first.id} model of ${mean} ms`, serviceMs: mean })),
    ...models.map((modelName) => ({ ...first, id: `${first.id} model ${modelName}`, modelName })),
    ...disturb.map((each) => ({ ...first, id: `${first.id} ${each.kind} ${each.count}`, disturb: each })),
    ...faults.map(({ name, planned }) => ({ ...first, id: `${first.id} ${name}`, faults: [...planned] })),
  ];
}

export function makePlan({ scenario, mode, settings, arms, conditions, questions, routing }: PlanParts): Plan {
  return {
    schema: SCHEMA_VERSION,
    scenario: scenario.name,
    mode,
    settings,
    arms: [...arms],
    conditions: [...conditions],
    runs: planRuns(settings, arms, conditions),
    primary: scenario.primary,
    marginUs: scenario.marginUs,
    ...(questions === undefined ? {} : { questions }),
    ...(routing === undefined ? {} : { routing }),
    sharedProcesses: [settings, ...conditions].some(({ agents = 0 }) => agents > MAX_AGENT_PROCESSES),
  };
}
