import type { Agent, ConnectOptions } from "../../../src/index.js";
import type { LocalIdentity } from "../../../src/security/identity/index.js";
import { ALL_PROTOCOLS, type SageWorld, SETTINGS } from "../world.js";

/** The protocols that carry SAGE, and the interface of SAGE over each. */
export const INTERFACES = { a2a: "JSONRPC", acp: "ACP+REST", agora: "AGORA+HTTP" } as const;
export type Over = keyof typeof INTERFACES;
export const OVERS = Object.keys(INTERFACES) as readonly Over[];

/** Settings of SAGE over one protocol, or as they are by default. */
export const settingsOver = (over: Over | undefined, more: object = {}) => ({
  sage: { ...SETTINGS.sage, ...more, ...(over && { over }) },
});

export function serveOver(world: SageWorld, served: Agent | undefined, over: Over | undefined, more: object = {}) {
  return world.serve(served, { protocols: ALL_PROTOCOLS, settings: settingsOver(over, more) });
}

/** Who calls whom. */
interface Called {
  readonly world: SageWorld;
  readonly url: string;
  readonly caller: LocalIdentity;
  readonly did: string;
}

/** Calls the agent with a DID at an address, by SAGE over whatever the agent offers. */
export function call({ world, url, caller, did }: Called, options: Partial<ConnectOptions> = {}) {
  const settings = { sage: { ...SETTINGS.sage, peer: did, ...options.settings?.["sage"] } };
  return world.connect(url, caller, { protocols: ALL_PROTOCOLS, ...options, settings });
}
