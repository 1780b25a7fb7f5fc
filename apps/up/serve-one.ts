import {
  type Agent,
  AgentError,
  agent,
  type Credentials,
  type Layer,
  type PeerAddress,
  type Requirement,
  type Server,
  serve,
} from "../../src/index.js";
import { provedDids } from "../../src/internal.js";
import { type Admission, bearerTokens } from "../../src/public/auth.js";
import type { Identity } from "../../src/public/identity.js";
import { protocols, selectInterfaces } from "../../src/public/protocols.js";
import { loadAgents } from "../config/index.js";
import type { PlanSettings } from "./plan-schema.js";

/** Options of `serveOne` and `serveInterface`. */
export interface ServeOneOptions {
  /** Agent name for a file that exports a plain function. Default: `agent`. */
  readonly name?: string;
  /** Credentials that callers must present. Default: none. */
  readonly credentials?: Credentials;
  /** The DIDs that callers must prove, if no credentials are demanded. Default: any. */
  readonly admits?: readonly string[];
  /** Policies around the agent, outermost first. Default: none. */
  readonly layers?: readonly Layer[];
  /** The security that callers must bring. Default: none. */
  readonly require?: readonly Requirement[];
  /** Who the agent is, for protocols that prove it. Default: none. */
  readonly identity?: Identity;
  /** Protocol settings, by protocol id. Default: none. */
  readonly settings?: PlanSettings;
  /** Peers that the agent can call by name. */
  readonly peers?: { readonly [id: string]: PeerAddress };
}

/** Serves the agent of a file over a single interface: `serveOne("./a.ts", "a2a@0.3/JSONRPC", 4101)`. */
export async function serveOne(
  agentFile: string,
  interfaceName: string,
  port: number,
  options: ServeOneOptions = {},
): Promise<Server> {
  const [loaded, ...more] = await loadAgents(agentFile, options.name ?? "agent");
  if (loaded === undefined || more.length > 0)
    throw new AgentError("invalid_message", `${agentFile} exports several agents; a module of a plan must export one`, {
      field: "agent",
    });
  return serveInterface(loaded, interfaceName, port, options);
}

/** Serves an agent over a single interface. */
export async function serveInterface(
  served: Agent,
  interfaceName: string,
  port: number,
  options: ServeOneOptions = {},
): Promise<Server> {
  for (const [id, address] of Object.entries(options.peers ?? {})) if (id !== served.name) served.addPeer(id, address);
  const admission = admissionFor(options);
  const server = await serve(served, {
    port,
    protocols: selectInterfaces([interfaceName], protocols),
    ...(admission === undefined ? {} : { admission }),
    ...(options.identity === undefined ? {} : { identity: options.identity }),
    settings: options.settings ?? {},
    layers: options.layers ?? [],
    require: options.require ?? [],
    onError: (thrown) => void process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
  });
  if (server.interfaces(served.name).length > 0) return server;
  await server.close();
  throw new AgentError("unsupported", `Unknown binding in ${interfaceName}: nothing to serve`, { field: "pin" });
}

const REFUSAL = "Only the neighbours of this module are admitted: prove one of their DIDs";

/** Admits callers with the bearer token of this module, or those that prove one of its DIDs. */
function admissionFor({ credentials: { bearer, apiKey } = {}, admits }: ServeOneOptions): Admission | undefined {
  if (apiKey !== undefined)
    throw new AgentError("unsupported", "An agent served here accepts bearer tokens only, not an API key", {
      field: "credentials",
    });
  if (bearer !== undefined) return bearerTokens(new Map([["neighbour", bearer]]));
  return admits === undefined ? undefined : provedDids(admits, REFUSAL);
}

/** An agent that echoes its input, for demo modules. */
export function echoAgent(name: string): Agent {
  return agent({ name, description: "Echoes its input", handle: ({ content }) => content });
}
