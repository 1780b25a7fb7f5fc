import type { RatioDefinition } from "../../harness/conclude.js";

/** What is measured without a socket: in one process, the arms of a case in turns. */

export type CryptoWork = "records" | "signatures" | "replays";

export interface CryptoCase {
  /** The section, and the start of the published keys. */
  readonly key: string;
  readonly title: string;
  readonly work: CryptoWork;
  readonly cipher?: "aes-256-gcm" | "chacha20-poly1305";
  readonly bytes?: number;
  /** The floor, which runs twice, and what is compared with it. */
  readonly floor: string;
  readonly arms: readonly string[];
}

/** One slice of a case, which its arms share in turns. */
export interface CryptoOrder {
  readonly case: CryptoCase;
  readonly arms: readonly string[];
  /** For each arm. */
  readonly sliceMs: number;
  readonly redisUrl?: string;
}

const RECORD_AT_LEAST = 0.85;
const SIGNATURE_AT_MOST = 1.25;

const recordCase = (cipher: NonNullable<CryptoCase["cipher"]>, short: string, bytes: number, size: string): CryptoCase => ({
  key: `record_${short}_${bytes === 300 ? "300b" : "64kb"}`,
  title: `Sealing and opening ${size}, ${cipher}`,
  work: "records",
  cipher,
  bytes,
  floor: "bare",
  arms: ["record"],
});

export const CRYPTO_CASES: readonly CryptoCase[] = [
  recordCase("aes-256-gcm", "aes", 300, "300 bytes"),
  recordCase("aes-256-gcm", "aes", 64 * 1024, "64 KB"),
  recordCase("chacha20-poly1305", "chacha", 300, "300 bytes"),
  recordCase("chacha20-poly1305", "chacha", 64 * 1024, "64 KB"),
  {
    key: "http_signature_1kb",
    title: "Signing and verifying a request of 1 KB, Ed25519 and SHA-256",
    work: "signatures",
    floor: "bare",
    arms: ["signature"],
  },
  {
    key: "replay_guard",
    title: "Adding a nonce, 32 in flight",
    work: "replays",
    floor: "memory",
    arms: ["sqlite", "redis"],
  },
];

export const again = (floor: string): string => `${floor} again`;

export const CRYPTO_FLOORS: readonly RatioDefinition[] = CRYPTO_CASES.map(({ key, floor }) => ({
  key: `${key}_${floor}_vs_${floor}`,
  section: key,
  of: again(floor),
  over: floor,
  metric: "cpuUs",
}));

export const CRYPTO_RATIOS: readonly RatioDefinition[] = CRYPTO_CASES.flatMap(ratiosFor);

/** A record: the floor's time over ours. A signature: ours over the floor's. A guard: its time over that in memory, without a target. */
function ratiosFor({ key, work, floor, arms }: CryptoCase): readonly RatioDefinition[] {
  return arms.map((arm): RatioDefinition => {
    if (work === "records")
      return { key: `${key}_vs_bare`, section: key, of: floor, over: arm, metric: "cpuUs", target: { atLeast: RECORD_AT_LEAST } };
    if (work === "signatures")
      return {
        key: `${key}_vs_bare`,
        section: key,
        of: arm,
        over: floor,
        metric: "cpuUs",
        target: { atMost: SIGNATURE_AT_MOST },
      };
    return { key: `${key}_${arm}_vs_memory`, section: key, of: arm, over: floor, metric: "cpuUs" };
  });
}
