import type { Protocol } from "../src/protocols/protocol.js";

/** A requirement for every protocol: data and a function, for any test runner. `check` throws if it is not met. */
export interface ContractRequirement {
  readonly id: string;
  readonly behaviour: string;
  check(protocol: Protocol): Promise<void>;
}

export function contract(id: string, behaviour: string, check: ContractRequirement["check"]): ContractRequirement {
  return { id: `contract:${id}`, behaviour, check };
}

/** Ends a check as unmet, with the observed value. */
export function demand(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Error(seen);
}

/** Bodies and messages that no protocol has. */
export const HOSTILE: readonly string[] = [
  "",
  "null",
  "[]",
  "1",
  '"text"',
  "{",
  "<html></html>",
  '{"__proto__":{"result":1}}',
  '{"jsonrpc":"2.0","id":"x"}',
  '{"result":null,"error":null}',
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
  '{"constructor":{"prototype":{}}}',
];
