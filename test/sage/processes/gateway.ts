import { writeFile } from "node:fs/promises";
import { isObject } from "../../../src/envelope/index.js";
import { bridge, DiscoveryCache, openSqliteStore, serve } from "../../../src/index.js";
import { a2a } from "../../../src/protocols/a2a/index.js";
import { sageOver } from "../../../src/protocols/sage/index.js";
import { openIdentity } from "../../../src/public/identity.js";
import { createInspector } from "../../../src/public/inspect.js";
import { noTelemetry } from "../../../src/telemetry/index.js";
import { answerLines, firstLine } from "../../watermark/processes/lines.js";

/** A gateway in its own process, under its own DID, with everything that could hold content: a store, message capture and a log. */
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
const inspector = createInspector({ ids: { newId: () => crypto.randomUUID() }, clock: { now: () => Date.now() } });
const server = await serve(bridged, {
  ...{ protocols: PROTOCOLS, identity, port: 0, settings: { sage: { rpc, registry, passOn: true } } },
  store: await openSqliteStore({ file: facts.store, now: Date.now }),
  telemetry: inspector.telemetry(noTelemetry),
  onError: (thrown) => process.stderr.write(`${String(thrown)}\n`),
});
answerLines({
  /** Writes the captured messages in full. */
  async capture(path) {
    const messages = inspector.log.list({}, 1_000).map(({ id }) => inspector.log.get(id));
    await writeFile(path, JSON.stringify(messages.filter(isObject)));
    return "captured";
  },
});
process.stdout.write(`ready ${server.url}\n`);
