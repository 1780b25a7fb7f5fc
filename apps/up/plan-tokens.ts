import { randomBytes } from "node:crypto";
import type { Network } from "../../src/public/network.js";
import { knowsCallersByDid } from "./plan-identities.js";
import type { PlanModule } from "./plan-schema.js";

const TOKEN_BYTES = 24;

type Tokened = { readonly modules: readonly PlanModule[]; readonly network: Network };

/** A plan with tokens for the modules whose callers must be identified and that name none. */
export interface PlanWithTokens<P extends Tokened> {
  readonly plan: P;
  /** The variables that hold the tokens. */
  readonly env: { readonly [name: string]: string };
}

/** Whether a link with `identity` leads to this module. */
export function demandsIdentity({ network }: Pick<Tokened, "network">, id: string): boolean {
  return network.links.some(({ dst, features }) => dst === id && features.some(({ name, on }) => name === "identity" && on));
}

/** Only agents that are served here can be made to demand a token: the others need `credentials` in the plan. */
export function canDemandToken({ agent, demo }: PlanModule): boolean {
  return agent !== undefined || demo === true;
}

export function withTokens<P extends Tokened>(plan: P): PlanWithTokens<P> {
  const env: { [name: string]: string } = {};
  const modules = plan.modules.map((module, index) => {
    if (module.credentials !== undefined || !demandsIdentity(plan, module.id) || !canDemandToken(module)) return module;
    if (knowsCallersByDid(plan, module.id)) return module;
    const name = `KOINE_PLAN_TOKEN_${index}`;
    env[name] = randomBytes(TOKEN_BYTES).toString("base64url");
    return { ...module, credentials: { bearer: { env: name } } };
  });
  return { plan: { ...plan, modules }, env };
}
