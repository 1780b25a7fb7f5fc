import type { Maybe } from "../../../envelope/index.js";
import { AGENTS_BASE, BASE, DESCRIPTION, INTERFACE, MESSAGE_PATH, RPC } from "../wire.js";

/** What a path below `/anp` names. `agent` undefined: the default one. */
export interface Named {
  readonly what: "description" | "interface" | "rpc" | "message";
  readonly agent: Maybe<string>;
}

const WHAT: ReadonlyMap<string, Named["what"]> = new Map([
  [DESCRIPTION, "description"],
  [INTERFACE, "interface"],
  [RPC, "rpc"],
] as const);

/** Undefined if there is nothing at the path. */
export function readPath(path: string): Maybe<Named> {
  if (path === MESSAGE_PATH) return { what: "message", agent: undefined };
  const slash = path.lastIndexOf("/");
  const what = WHAT.get(path.slice(slash + 1));
  const base = path.slice(0, slash);
  if (what === undefined) return undefined;
  if (base === BASE) return { what, agent: undefined };
  const name = base.startsWith(`${AGENTS_BASE}/`) ? base.slice(AGENTS_BASE.length + 1) : "";
  if (name === "" || name.includes("/")) return undefined;
  try {
    return { what, agent: decodeURIComponent(name) };
  } catch {
    return undefined;
  }
}

/** Where an agent has its documents and its interface. */
export function agentBase(publicUrl: string, agent: Maybe<string>): string {
  return agent === undefined ? publicUrl + BASE : `${publicUrl}${AGENTS_BASE}/${encodeURIComponent(agent)}`;
}
