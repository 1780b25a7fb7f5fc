import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AgentError } from "../../envelope/index.js";
import { SignatureError } from "../../security/signatures/index.js";
import {
  DidNotResolved,
  isNamed,
  isRefusal,
  isSageError,
  isSageErrorName,
  loggedRefusal,
  namedByPeer,
  RegistryRefusal,
  refusalFor,
  SageError,
  sageError,
} from "./errors.js";

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

test.each([
  ["missing", "sig.missing", "ErrInvalidSignature", "bad_signature"],
  ["coverage", "sig.coverage", "ErrInvalidSignature", "bad_signature"],
  ["expired", "sig.stale", "ErrInvalidSignature", "bad_signature"],
  ["digest_mismatch", "digest.mismatch", "ErrInvalidSignature", "bad_signature"],
  ["replayed", "sig.replay", "ErrReplayAttack", "replayed"],
  ["too_large", "size.exceeded", "ErrInvalidMessage", "invalid_message"],
] as const)("a signature that is refused as %s is %s of %s", (problem, reason, name, code) => {
  expect(sageError(new SignatureError(problem, "why"))).toMatchObject({
    name,
    code,
    reason,
    facts: { detail: { error: name, reason } },
  });
});

test("a DID that is not resolved gets its name once, and other errors stay what they are", () => {
  const unresolved = new AgentError("identity_unresolved", "no record");
  const named = sageError(unresolved);
  expect(named).toMatchObject({ name: "ErrDIDNotResolved", code: "identity_unresolved", facts: { cause: unresolved } });
  expect(sageError(named)).toBe(named);
  const other = new AgentError("overloaded", "later");
  expect(sageError(other)).toBe(other);
});

test("a caller is told the name of a refusal and not its reason", () => {
  const refused = refusalFor(new SageError("sig.coverage", "content-digest is not covered"));
  expect(refused).toMatchObject({ code: "unauthenticated", message: "the request was refused (ErrInvalidSignature)" });
  expect(refused.facts.detail).toEqual({ error: "ErrInvalidSignature" });
});

test.each([
  new SageError("policy_denied", "not sealed"),
  new AgentError("overloaded", "later"),
  new AgentError("unauthenticated", "sign with this nonce", { detail: { error: "ErrReplayAttack" } }),
])("$message is told as it is", (error) => {
  expect(refusalFor(error)).toBe(error);
});

test("an error that a peer named has the code that it has here", () => {
  const told = new AgentError("unauthenticated", "refused", { detail: { error: "ErrSessionExpired" } });
  expect(namedByPeer(told)).toMatchObject({ name: "ErrSessionExpired", code: "session_expired", message: "refused" });
  for (const error of [
    new AgentError("unauthenticated", "who?"),
    new AgentError("internal", "no", { detail: { error: "ErrReplayAttack" } }),
  ])
    expect(namedByPeer(error)).toBe(error);
  expect([isSageErrorName("toString"), isSageErrorName(1)]).toEqual([false, false]);
});

test("the log has the reason of a refusal, or its code if it has none", () => {
  const refused = loggedRefusal(new SageError("sig.binding", "signed for somebody else"));
  expect([refused.message, refused.facts.detail]).toEqual([
    "request refused (sig.binding): signed for somebody else",
    { reason: "sig.binding" },
  ]);
  expect(loggedRefusal(new AgentError("overloaded", "too many")).facts.detail).toEqual({ reason: "overloaded" });
});

test("an error is one of SAGE by its own name, or by the one that a peer gave", () => {
  const own = new SageError("policy_denied", "no");
  const told = new AgentError("unauthenticated", "no", { detail: { error: "ErrReplayAttack" } });
  const plain = new AgentError("internal", "no");
  expect([own, told, plain, new Error("no")].map(isNamed)).toEqual([true, true, false, false]);
  expect(isSageError(own, "ErrDowngradeRefused")).toBe(true);
  expect(isSageError(told, "ErrReplayAttack")).toBe(true);
  expect([own, plain, new Error("no")].map((each) => isSageError(each, "ErrReplayAttack"))).toEqual([false, false, false]);
});
