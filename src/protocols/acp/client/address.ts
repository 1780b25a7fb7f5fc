import type { Maybe } from "../../../envelope/index.js";
import { withoutTrailingSlashes } from "../../../transport/address-parts.js";

/** Where a server is, and which of its agents an address names. */
export interface AgentAddress {
  /** Without a trailing slash; a path below which the server is mounted stays. */
  readonly base: string;
  /** Undefined where the address is the server's own. */
  readonly agentName: Maybe<string>;
}

/** `http://host/base/agents/name` names an agent; every other address is a server. */
export function agentAddress(url: string): AgentAddress {
  const { origin, pathname } = new URL(url);
  const path = withoutTrailingSlashes(pathname);
  const [, before = path, name] = /^(.*)\/agents\/([^/]+)$/.exec(path) ?? [];
  // The list of agents is an address people copy too.
  const base = `${origin}${name === undefined ? before.replace(/\/agents$/, "") : before}`;
  return { base, agentName: name === undefined ? undefined : decodedName(name) };
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

export function agentUrl(base: string, agentName: string): string {
  return `${base}/agents/${encodeURIComponent(agentName)}`;
}
