import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DidNotResolved, isRefusal, RegistryRefusal } from "./errors.js";

const { abi } = JSON.parse(readFileSync(new URL("contracts/SageRegistry.json", import.meta.url), "utf8")) as {
  readonly abi: readonly { readonly type: string; readonly name?: string }[];
};
const named = abi.flatMap(({ type, name = "" }) => (type === "error" ? [name] : []));

test("every error of the contract is a refusal with a code and a meaning", () => {
  expect(named.length).toBeGreaterThan(0);
  for (const name of named) {
    if (!isRefusal(name)) throw new Error(`${name} has no meaning`);
    const refusal = new RegistryRefusal(name);
    expect([refusal.reason, refusal.facts]).toEqual([name, expect.objectContaining({ sent: "no", detail: { reason: name } })]);
    expect(refusal.message).toMatch(new RegExp(`^the registry refused \\(${name}\\): \\w`));
  }
  expect(isRefusal("toString")).toBe(false);
});

test.each([
  ["id.malformed", "invalid_message"],
  ["id.unknown-kind", "unsupported"],
  ["record.not-found", "not_found"],
  ["record.unreachable", "unavailable"],
  ["record.stale", "unavailable"],
  ["key.revoked", "not_found"],
] as const)("a DID that is not resolved for the reason %s is %s", (reason, code) => {
  expect(new DidNotResolved(reason, "why")).toMatchObject({
    name: "ErrDIDNotResolved",
    code,
    reason,
    message: "why",
    facts: { field: "did", detail: { error: "ErrDIDNotResolved", reason } },
  });
});
