import { AgentError, DiscoveryCache } from "../../src/index.js";
import type { GatewayConfig } from "./config.js";
import type { FloorLink } from "./floor-report.js";
import { prepare } from "./prepare.js";
import { resolveUpstream } from "./resolve-upstream.js";
import { interfaceName } from "./status.js";

/** Result of checking one upstream. */
export interface CheckedUpstream {
  readonly agent: string;
  readonly id: string;
  readonly url: string;
  readonly speaks: string | undefined;
  readonly problem: string | undefined;
}

/** Result of checking a configuration. */
export interface CheckedGateway {
  readonly warnings: readonly string[];
  /** Upstreams that get less security than calls must have, or whose calls will be refused. */
  readonly floor: readonly FloorLink[];
  readonly upstreams: readonly CheckedUpstream[];
}

const CHECK_MS = 5_000;

/** Reads every file and variable of a configuration, and connects to its upstreams if `probe` is true. Opens no port and no store. */
export async function checkGateway(config: GatewayConfig, probe: boolean): Promise<CheckedGateway> {
  const { agents, warnings, floor } = await prepare(config);
  const upstreams = agents.flatMap(({ config: agent, credentials, identities, trust, callers }) =>
    agent.upstreams.map(async ({ id, url, pin, settings }, index): Promise<CheckedUpstream> => {
      const facts = { agent: agent.name, id, url };
      if (!probe) return { ...facts, speaks: undefined, problem: undefined };
      try {
        const identity = identities[index];
        const options = {
          credentials: credentials[index] ?? {},
          settings,
          discoveryCache: new DiscoveryCache(),
          discoverMs: CHECK_MS,
          ...(pin === undefined ? {} : { pin }),
          ...(trust === undefined ? {} : { trust }),
          ...(identity === undefined ? {} : { identity }),
        };
        const { remote } = await resolveUpstream(url, options, callers);
        const speaks = interfaceName(remote);
        await remote.close();
        return { ...facts, speaks, problem: undefined };
      } catch (thrown) {
        return { ...facts, speaks: undefined, problem: AgentError.from(thrown).message };
      }
    }),
  );
  return { warnings, floor, upstreams: await Promise.all(upstreams) };
}
