import type { Command } from "commander";
import { safety } from "../../bench/protocols/index.js";
import { type DeploymentName, protocols } from "../../src/public/protocols.js";
import { aboutFolder } from "./bench-folders.js";
import { routingOf } from "./bench-routing.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format } from "./output.js";
import { printable } from "./printable.js";
import { startProgress } from "./progress.js";

export interface SafetyCommandOptions {
  readonly output: Format;
  readonly protocols?: readonly string[];
  readonly deployments: readonly DeploymentName[];
  readonly quick?: boolean;
  readonly probes?: readonly string[];
  readonly rounds?: number;
  /** Milliseconds; the option is in seconds. */
  readonly capture?: number;
  readonly probeConfig?: string;
  readonly out?: string;
  readonly force?: boolean;
  readonly resume?: boolean;
  readonly router?: boolean;
  readonly ranking?: string;
}

const FOLDER = "koine-safety";

/** The action of `koine bench safety`. */
export async function benchSafety(options: SafetyCommandOptions, command: Command): Promise<void> {
  const output = createOutput(options.output);
  const folder = options.out ?? FOLDER;
  const interrupt = listenForInterrupt();
  const progress = startProgress({ stream: output.stderr });
  let result: safety.SafetyResult;
  try {
    result = await measureSafety(options, {
      ...{ folder, signal: interrupt.signal },
      koine: command.parent?.parent?.version() ?? "",
      onProgress: (now) => progress.show(now.target, targetText(now)),
    });
  } finally {
    progress.stop();
    interrupt.stop();
  }
  if (output.format === "json") await output.document(result);
  else await output.text(safety.renderSafety(result));
  output.say(`kept in ${printable(folder)}; koine bench verify ${printable(folder)} computes it again`);
  judge(result, interrupt.signal.aborted, folder);
}

/** How far the probes are, in words. */
export function targetText({ done, targets, probe }: safety.SafetyProgress): string {
  return `target ${done + 1} of ${targets}, ${probe ?? "starting"}`;
}

/** Probes every target, and returns the result that is in its folder. Throws a usage error for what cannot be probed. */
export async function measureSafety(
  options: SafetyCommandOptions,
  context: Pick<safety.SafetyOptions, "folder" | "koine" | "signal" | "onProgress">,
): Promise<safety.SafetyResult> {
  const { mode, config } = configOf(options);
  const measured = protocolsOf(options.protocols);
  const routing = options.router === true ? await routingOf("safety", measured, options.ranking) : undefined;
  const plan = safety.planSafety({ mode, config, protocols: measured, deployments: options.deployments, routing });
  const { force = false, resume = false } = options;
  return aboutFolder(() => safety.runSafety({ ...context, plan, force, resume }));
}

function judge({ status, marks, checks }: safety.SafetyResult, interrupted: boolean, folder: string): void {
  if (interrupted)
    throw new CliError(EXIT.interrupted, `interrupted: what was probed is in ${printable(folder)}`, {
      code: "cancelled",
      hint: "Go on with --resume.",
    });
  if (status === "complete") return;
  const failed = Object.values(checks).find(({ passed }) => !passed)?.statement ?? "";
  throw new CliError(
    EXIT.failure,
    status === "partial" ? `not everything was probed: ${marks.at(-1) ?? ""}` : `the result is invalid: ${failed}`,
  );
}

/** The configuration of the paper, or a quick one, with what the user changes. */
function configOf({ quick, probes, rounds, capture, probeConfig }: SafetyCommandOptions) {
  const base = quick === true ? safety.QUICK : safety.PAPER;
  const given: Readonly<Record<string, unknown>> = {
    ...(probes !== undefined && { probes }),
    ...(rounds !== undefined && { rounds, downgradeRounds: rounds, skewRounds: rounds, replayRounds: rounds }),
    ...(capture !== undefined && { captureSeconds: capture / 1_000 }),
    ...membersOf(probeConfig),
  };
  const changed = safety.withSwitches(given, probes ?? base.probes);
  const read = safety.PROBE_CONFIG.safeParse({ ...base, ...changed });
  if (!read.success) {
    const [issue] = read.error.issues;
    const place = issue?.path.join(".") ?? "";
    const hint = place.startsWith("probes") ? `Choose from ${safety.PROBES.join(", ")}.` : undefined;
    throw usageError(`the probe configuration is invalid: ${place}: ${issue?.message}`, hint);
  }
  const isChanged = Object.keys(changed).length > 0;
  return { config: read.data, mode: isChanged ? "custom" : quick === true ? "quick" : "paper" } as const;
}

function membersOf(json: string | undefined): object {
  if (json === undefined) return {};
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below, with what is expected.
  }
  throw usageError("the probe configuration is not a JSON object", "For example --probe-config '{\"replayRounds\":5}'.");
}

function protocolsOf(wanted: readonly string[] | undefined): readonly string[] {
  const known = protocols.map(({ id }) => id);
  const unknown = wanted?.find((id) => !known.includes(id));
  if (unknown === undefined) return wanted ?? known;
  throw usageError(`there is no protocol ${unknown}`, `Choose from ${known.join(", ")}.`);
}
