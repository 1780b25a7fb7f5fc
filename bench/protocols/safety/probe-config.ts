import { z } from "zod";

/** The probes by the names of their switches; where the paper names one, by its name. The order is that of a run. */
export const PROBES = [
  "tls_downgrade",
  "plaintext_fallback",
  "certificate_matrix_client",
  "certificate_matrix_server",
  "session_hijack",
  "replay",
  "time_skew_matrix",
  "window_anomalies",
  "tampering",
  "network_sniffing",
  "e2e_payload_detection",
  "metadata_exposure",
  // Last: it changes who may call.
  "key_rotation",
] as const;
export type ProbeName = (typeof PROBES)[number];

const MOST_ROUNDS = 1_000;
const rounds = z.number().int().min(1).max(MOST_ROUNDS);

/** The one configuration of all probes, the same for every target. */
export const PROBE_CONFIG = z.strictObject({
  probes: z.array(z.enum(PROBES)).min(1),
  downgradeRounds: rounds,
  skewRounds: rounds,
  replayRounds: rounds,
  /** Rounds of every other probe. */
  rounds,
  captureSeconds: z.number().positive().max(3_600),
  /** Cases that the doctors are asked about. */
  cases: z.number().int().min(1).max(10),
});
export type ProbeConfig = z.infer<typeof PROBE_CONFIG>;

/** Members of a configuration in which probes may also be switched by their names, as `{"tls_downgrade": false}`: the others stay. */
export function withSwitches(
  members: Readonly<Record<string, unknown>>,
  probes: readonly string[],
): Readonly<Record<string, unknown>> {
  const switches = new Map<string, boolean>(
    PROBES.flatMap((name) => {
      const value = members[name];
      return typeof value === "boolean" ? [[name, value] as const] : [];
    }),
  );
  if (switches.size === 0) return members;
  const rest = Object.entries(members).filter(([name]) => !switches.has(name));
  return { ...Object.fromEntries(rest), probes: PROBES.filter((name) => switches.get(name) ?? probes.includes(name)) };
}

/** The numbers of the paper. */
export const PAPER: ProbeConfig = {
  probes: [...PROBES],
  downgradeRounds: 3,
  skewRounds: 12,
  replayRounds: 2,
  rounds: 2,
  captureSeconds: 8,
  cases: 10,
};

/** Fewer rounds, a shorter capture. */
export const QUICK: ProbeConfig = {
  ...PAPER,
  downgradeRounds: 1,
  skewRounds: 8,
  replayRounds: 1,
  rounds: 1,
  captureSeconds: 1,
  cases: 2,
};

/** Offsets of the sender's clock in seconds. Those up to five minutes are within what verifiers allow, and are not scored. */
export const SKEWS_S = [-600, 600, -300, 300, -120, 120, -30, 30] as const;
export const SCORED_SKEW_S = 600;
