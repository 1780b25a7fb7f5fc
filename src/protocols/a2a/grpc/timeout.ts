import { AgentError, type Maybe } from "../../../envelope/index.js";

const UNIT_MS: { readonly [unit: string]: number } = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 };
/** The maximum number of digits on the wire. */
const MOST = 99_999_999;

/** `grpc-timeout` in milliseconds: at most eight digits and a unit. */
export function readTimeout(header: Maybe<string>): Maybe<number> {
  if (header === undefined) return undefined;
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? [];
  if (digits === undefined) throw new AgentError("invalid_message", "grpc-timeout is not a time", { field: "grpc-timeout" });
  return Number(digits) * (UNIT_MS[unit] ?? 0);
}

/**
 * Encodes a timeout in the finest unit that fits. Zero is not allowed on the wire, so an expired deadline is written as the
 * shortest timeout.
 */
export function writeTimeout(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms));
  return whole <= MOST ? `${whole}m` : `${Math.min(MOST, Math.ceil(ms / 1_000))}S`;
}
