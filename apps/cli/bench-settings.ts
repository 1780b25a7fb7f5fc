import { hostsProblem, LEAST_HOSTS, MOST_HOSTS, type Scenario, type Settings } from "../../bench/protocols/index.js";
import { usageError } from "./exit.js";

/** Options that change where and how a scenario runs. */
export interface SettingOptions {
  readonly hosts?: number;
  readonly freeze: Settings["freeze"];
  readonly impl: readonly string[];
  readonly answers: Settings["model"];
}

/** The settings that these options make. What would have no effect in a scenario is refused. */
export function chosenSettings(scenario: Scenario, options: SettingOptions): Pick<Settings, "hosts" | "freeze"> {
  return { freeze: freezeOf(scenario, options), ...hostsOf(options) };
}

function freezeOf({ name, canFreeze = [] }: Scenario, { freeze }: SettingOptions): Settings["freeze"] {
  const wrong = freeze.find((each) => !canFreeze.includes(each));
  if (wrong === undefined) return freeze;
  const instead = canFreeze.length === 0 ? "It can hold nothing fixed." : `It can hold: ${canFreeze.join(", ")}.`;
  throw usageError(`--freeze ${wrong}: ${name} ${WITHOUT[wrong]}`, instead);
}

/** Why there is nothing to hold. */
const WITHOUT: Readonly<Record<Settings["freeze"][number], string>> = {
  topology: "always sends the same request to the same agent",
  planner: "has no planner",
};

function hostsOf({ hosts, impl, answers }: SettingOptions): Pick<Settings, "hosts"> {
  if (hosts === undefined || hosts === 1) return {};
  if (hosts < LEAST_HOSTS || hosts > MOST_HOSTS) throw usageError(`--hosts takes a number from 1 to ${MOST_HOSTS}, not ${hosts}`);
  if (impl.includes("official")) throw usageError("--hosts: official implementations are served on one host only");
  if (answers === "live")
    throw usageError(
      "--hosts: agents on other hosts cannot reach a model",
      "Record its answers first, then use --answers recorded.",
    );
  const problem = hostsProblem();
  if (problem !== undefined) throw usageError(`--hosts ${hosts}: ${problem}`, "Leave --hosts out to measure on one host.");
  return { hosts };
}
