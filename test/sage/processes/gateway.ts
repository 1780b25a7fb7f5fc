import { bridge, DiscoveryCache, openSqliteStore, serve } from "../../../src/index.js";
import { a2a } from "../../../src/protocols/a2a/index.js";
import { sageOver } from "../../../src/protocols/sage/index.js";
import { openIdentity } from "../../../src/public/identity.js";
import { answerLines, firstLine } from "../../watermark/processes/lines.js";

/** A gateway in its own process, under its own DID, with a store of its own. */
export interface GatewayFacts {
  readonly upstream: string;
  readonly pin: string;
  /** The DID that the agent must prove. */
  readonly peer?: string;
  readonly mode: "adopt" | "relay";
  /** The file of its identity. */
  readonly identity: string;
  /** The file of its store. */
  readonly store: string;
  readonly rpc: string;
  readonly registry: string;
}

const PROTOCOLS = [a2a, sageOver(a2a)];
const facts: GatewayFacts = JSON.parse(await firstLine());
const { upstream, pin, mode, rpc, registry, peer } = facts;
const identity = await openIdentity(facts.identity);
const bridged = await bridge(upstream, {
  ...{ protocols: PROTOCOLS, pin, identity, settings: { sage: { rpc, registry, ...(peer === undefined ? {} : { peer }) } } },
  discoveryCache: new DiscoveryCache(),
  bridge: { name: "desk", mode },
});
const server = await serve(bridged, {
  ...{ protocols: PROTOCOLS, identity, port: 0, settings: { sage: { rpc, registry, passOn: true } } },
  store: await openSqliteStore({ file: facts.store, now: Date.now }),
});
answerLines({});
process.stdout.write(`ready ${server.url}\n`);
