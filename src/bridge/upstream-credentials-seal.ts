import { AgentError, type Call, CallerCredential, isObject, type Maybe, SELF } from "../envelope/index.js";
import { createSeal, expiryOf } from "../security/index.js";
import type { CredentialSeal } from "./adopt-parts.js";

/** A credential is kept with a task for this long at most, whatever it says of itself. */
export const CREDENTIAL_KEPT_MS = 24 * 3_600_000;

/**
 * Callers' tokens beside their tasks, for when a task outlives the call it came by. Only gateways with the same secret can
 * read them, and one that was kept for one owner opens for nobody else.
 */
export function credentialSeal(agent: string, secret: Uint8Array, now: () => number): CredentialSeal {
  const seal = createSeal(secret, "callers' credentials");
  const aboutIt = ({ caller }: Call): string => JSON.stringify([agent, caller.owner]);
  return {
    seal(call) {
      const token = call.credential?.bearerToken();
      if (token === undefined) return undefined;
      const untilMs = Math.min(now() + CREDENTIAL_KEPT_MS, expiryOf(token) ?? Number.POSITIVE_INFINITY);
      return seal.close(JSON.stringify({ token, untilMs }), aboutIt(call));
    },
    open(sealed, call) {
      // Whoever calls now brings what counts now; what the gateway does on its own account needs no caller's.
      if (call.credential !== undefined || call.caller.owner === SELF.owner) return call;
      if (sealed === undefined) throw refusal("this call brings none, and none was kept with its task");
      const kept = read(seal.open(sealed, aboutIt(call)));
      if (kept === undefined) throw refusal("the one that was kept with the task cannot be read by this gateway");
      if (now() >= kept.untilMs) throw refusal("the one that was kept with the task has expired");
      return call.derive({ credential: new CallerCredential(`Bearer ${kept.token}`) });
    },
  };
}

function read(text: Maybe<string>): Maybe<{ readonly token: string; readonly untilMs: number }> {
  if (text === undefined) return undefined;
  const kept: unknown = JSON.parse(text); // nobody else can have written it
  if (!isObject(kept) || typeof kept["token"] !== "string" || typeof kept["untilMs"] !== "number") return undefined;
  return { token: kept["token"], untilMs: kept["untilMs"] };
}

function refusal(why: string): AgentError {
  return new AgentError(
    "unauthenticated",
    `the agent behind this gateway is called with the caller's own bearer token, and ${why}`,
    { sent: "no" },
  );
}
