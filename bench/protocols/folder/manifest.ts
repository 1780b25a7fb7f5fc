import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { arch, cpus, loadavg, release, totalmem, type } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { PACKAGE_ROOT } from "../../../src/transport/node/package-file.js";
import { DECODING, type ModelSettings } from "../models/settings.js";
import { type BenchResult, type Manifest, type ManifestInput, type Plan, SCHEMA_VERSION } from "../result/index.js";

const GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

export interface ManifestParts {
  readonly koine: string;
  readonly plan: Plan;
  readonly model: ModelSettings;
  readonly versions: Readonly<Record<string, string>>;
  readonly inputs: readonly ManifestInput[];
}

/** Where a result of any scenario comes from. */
export function originOf(koine: string) {
  const all = cpus();
  return {
    koine,
    ...commitOf(PACKAGE_ROOT),
    lock: digestOf(new URL("package-lock.json", PACKAGE_ROOT)),
    node: process.version,
    machine: {
      system: type(),
      kernel: release(),
      architecture: arch(),
      cpu: all[0]?.model ?? "unknown",
      cores: all.length,
      governor: existsSync(GOVERNOR) ? readFileSync(GOVERNOR, "utf8").trim() : null,
      memoryBytes: totalmem(),
      clock: "monotonic, nanoseconds (process.hrtime)",
    },
    loadBefore: loadavg()[0] ?? 0,
    startedAt: new Date().toISOString(),
  };
}

/** The manifest when the benchmark begins. */
export function beginManifest({ koine, plan, model, versions, inputs }: ManifestParts): Manifest {
  return {
    schema: SCHEMA_VERSION,
    ...originOf(koine),
    versions: { ...versions },
    loadAfter: null,
    endedAt: null,
    scenario: plan.scenario,
    settings: plan.settings,
    blockOrder: blockOrder(plan),
    protection: null,
    inputs: [...inputs],
    decoding:
      model.kind === "live" ? { model: model.model, ...DECODING, requestsPerSecond: model.requestsPerSecond ?? null } : null,
    events: null,
  };
}

/** The same when it has ended. */
export function endManifest(
  manifest: Manifest,
  { arms }: Pick<BenchResult, "arms">,
  events: NonNullable<Manifest["events"]>,
): Manifest {
  return { ...manifest, loadAfter: loadavg()[0] ?? 0, endedAt: new Date().toISOString(), protection: protectionIn(arms), events };
}

/** What protected each arm. */
export function protectionIn(arms: BenchResult["arms"]): NonNullable<Manifest["protection"]> {
  return Object.fromEntries(arms.map(({ arm, protection }) => [arm, protection]));
}

function blockOrder({ runs, settings }: Plan): string[][] {
  return Array.from({ length: settings.runs }, (_, block) => runs.filter((run) => run.block === block).map(({ arm }) => arm));
}

/** A file that went into the measurement. */
export function inputOf(role: ManifestInput["role"], path: string): ManifestInput {
  const bytes = readFileSync(path);
  return { role, name: basename(path), bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function digestOf(file: URL): string | null {
  return existsSync(file) ? createHash("sha256").update(readFileSync(file)).digest("hex") : null;
}

/** Null where it does not run from a checkout, as an installed package. */
function commitOf(root: URL): Pick<Manifest, "commit" | "dirty"> {
  if (!existsSync(new URL(".git", root))) return { commit: null, dirty: null };
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: fileURLToPath(root), encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return { commit: git("rev-parse", "HEAD"), dirty: git("status", "--porcelain") !== "" };
  } catch {
    return { commit: null, dirty: null };
  }
}
