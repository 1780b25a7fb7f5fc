import { AgentError, type Call, CallerCredential, isObject, type Maybe, SELF } from "../envelope/index.js";
import { createSeal, expiryOf } from "../security/index.js";
import type { CredentialSeal } from "./adopt-context.js";

/** The longest time a credential is stored with a task, whatever its expiry. */
export const CREDENTIAL_KEPT_MS = 24 * 3_600_000;

/**
 * Encrypts callers' tokens that are stored with their tasks, for tasks that outlive the call. Only gateways with the same
 * secret can decrypt them, and only for the same owner.
 */
export function credentialSeal(agent: string, secret: Uint8Array, now: () => number): CredentialSeal {
  const seal = createSeal(secret, "callers' credentials");
  const boundTo = ({ caller }: Call): string => JSON.stringify([agent, caller.owner]);
  return {
    seal(call) {
      const token = call.credential?.bearerToken();
      if (token === undefined) return undefined;
      const untilMs = Math.min(now() + CREDENTIAL_KEPT_MS, expiryOf(token) ?? Number.POSITIVE_INFINITY);
      return seal.close(JSON.stringify({ token, untilMs }), boundTo(call));
    },
    open(sealed, call) {
      // The credential of the current call takes precedence; calls of the gateway itself need none.
      if (call.credential !== undefined || call.caller.owner === SELF.owner) return call;
      if (sealed === undefined) throw refusal("this call has none, and none is stored with its task");
      const kept = read(seal.open(sealed, boundTo(call)));
      if (kept === undefined) throw refusal("the one stored with the task cannot be read by this gateway");
      if (now() >= kept.untilMs) throw refusal("the one stored with the task has expired");
      return call.derive({ credential: new CallerCredential(`Bearer ${kept.token}`) });
    },
  };
}

function read(text: Maybe<string>): Maybe<{ readonly token: string; readonly untilMs: number }> {
  if (text === undefined) return undefined;
  const kept: unknown = JSON.parse(text); // authenticated by the seal
  if (!isObject(kept) || typeof kept["token"] !== "string" || typeof kept["untilMs"] !== "number") return undefined;
  return { token: kept["token"], untilMs: kept["untilMs"] };
}

function refusal(why: string): AgentError {
  return new AgentError("unauthenticated", `the upstream agent requires the caller's own bearer token, and ${why}`, {
    sent: "no",
  });
}
