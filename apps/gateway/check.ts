import { AgentError, DiscoveryCache } from "../../src/index.js";
import type { GatewayConfig } from "./config.js";
import { prepare } from "./prepare.js";
import { resolveUpstream } from "./resolve-upstream.js";
import { spokenBy } from "./status.js";

/** What one upstream says when it is asked. */
export interface CheckedUpstream {
  readonly agent: string;
  readonly id: string;
  readonly url: string;
  readonly speaks: string | undefined;
  readonly problem: string | undefined;
}

const CHECK_MS = 5_000;

/** Reads everything that a configuration names, and asks its upstreams if `ask` is true. Opens no port and no store. */
export async function checkGateway(
  config: GatewayConfig,
  ask: boolean,
): Promise<{ readonly warnings: readonly string[]; readonly upstreams: readonly CheckedUpstream[] }> {
  const { agents, warnings } = await prepare(config);
  const upstreams = agents.flatMap(({ config: agent, credentials, trust, callers }) =>
    agent.upstreams.map(async ({ id, url, pin }, index): Promise<CheckedUpstream> => {
      const facts = { agent: agent.name, id, url };
      if (!ask) return { ...facts, speaks: undefined, problem: undefined };
      try {
        const options = {
          credentials: credentials[index] ?? {},
          verdicts: new DiscoveryCache(),
          discoverMs: CHECK_MS,
          ...(pin === undefined ? {} : { pin }),
          ...(trust === undefined ? {} : { trust }),
        };
        const { remote } = await resolveUpstream(url, options, callers);
        const speaks = spokenBy(remote);
        await remote.close();
        return { ...facts, speaks, problem: undefined };
      } catch (thrown) {
        return { ...facts, speaks: undefined, problem: AgentError.from(thrown).message };
      }
    }),
  );
  return { warnings, upstreams: await Promise.all(upstreams) };
}
