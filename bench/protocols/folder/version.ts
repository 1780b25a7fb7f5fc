import { SCHEMA_VERSION } from "../result/index.js";

/** Says that a file is of another version of the benchmark, and what to do; undefined for one of this version, or of none. */
export function otherVersion(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("schema" in value)) return undefined;
  const { schema } = value;
  if (typeof schema !== "number" || schema === SCHEMA_VERSION) return undefined;
  const writer = "koine" in value && typeof value.koine === "string" ? ` (koine ${value.koine})` : "";
  const next = schema < SCHEMA_VERSION ? "measure again, or read it with the version that wrote it" : "update koine to read it";
  return `has schema version ${schema}, and this koine reads version ${SCHEMA_VERSION}: ${next}${writer}`;
}
