import { type Agent, AgentError, agent, type Credentials, type PeerAddress, type Server, serve } from "../../src/index.js";
import { type Admission, bearerTokens } from "../../src/public/auth.js";
import { protocols, selectInterfaces } from "../../src/public/protocols.js";
import { loadAgents } from "../config/index.js";

export interface ServeOneOptions {
  /** What a file with a bare function is called. Default `agent`. */
  readonly name?: string;
  /** What callers have to show. Default: everybody on this machine may call. */
  readonly credentials?: Credentials;
  /** Whom the agent may call by a short name. */
  readonly peers?: { readonly [id: string]: PeerAddress };
}

/** Serves the agent of a file on one protocol, version and binding, and on nothing else: `serveOne("./a.ts", "a2a@0.3/JSONRPC", 4101)`. */
export async function serveOne(agentFile: string, way: string, port: number, options: ServeOneOptions = {}): Promise<Server> {
  const [loaded, ...more] = await loadAgents(agentFile, options.name ?? "agent");
  if (loaded === undefined || more.length > 0)
    throw new AgentError("invalid_message", `${agentFile} exports several agents; each module of a plan is one`, {
      field: "agent",
    });
  return serveInterface(loaded, way, port, options);
}

/** The same for an agent that is there already. */
export async function serveInterface(served: Agent, way: string, port: number, options: ServeOneOptions = {}): Promise<Server> {
  for (const [id, address] of Object.entries(options.peers ?? {})) if (id !== served.name) served.addPeer(id, address);
  const admission = admissionFor(options.credentials);
  const server = await serve(served, {
    port,
    protocols: selectInterfaces([way], protocols),
    ...(admission === undefined ? {} : { admission }),
    onError: (thrown) => void process.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`),
  });
  if (server.interfaces(served.name).length > 0) return server;
  await server.close();
  throw new AgentError("unsupported", `nothing is served by ${way}: there is no such binding`, { field: "pin" });
}

/** Who shows what the plan names as this module's credentials is a neighbour; nobody else comes in. */
function admissionFor({ bearer, apiKey }: Credentials = {}): Admission | undefined {
  if (apiKey !== undefined)
    throw new AgentError("unsupported", "an agent that is served here knows its callers by a bearer token", {
      field: "credentials",
    });
  return bearer === undefined ? undefined : bearerTokens(new Map([["neighbour", bearer]]));
}

/** Says what it hears: for plans that are shown, not used. */
export function echoAgent(name: string): Agent {
  return agent({ name, description: "Says what it hears", handle: ({ content }) => content });
}
