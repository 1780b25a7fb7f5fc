import type { Maybe } from "../../../envelope/index.js";
import { withoutTrailingSlashes } from "../../../transport/address-parts.js";

/** A server, and the agent that an address names. */
export interface AgentAddress {
  /** Without a trailing slash, but with the path of a mounted server. */
  readonly base: string;
  /** Undefined if the address is that of the server. */
  readonly agentName: Maybe<string>;
}

/** `http://host/base/agents/name` names an agent; every other address is a server. */
export function agentAddress(url: string): AgentAddress {
  const { origin, pathname } = new URL(url);
  const path = withoutTrailingSlashes(pathname);
  const [, before = path, name] = /^(.*)\/agents\/([^/]+)$/.exec(path) ?? [];
  // Users also copy the address of the agent list.
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
