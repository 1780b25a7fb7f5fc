import { writeFile } from "node:fs/promises";
import { isObject } from "../../../src/envelope/index.js";
import { bridge, DiscoveryCache, openSqliteStore, serve } from "../../../src/index.js";
import { createIdentity } from "../../../src/public/identity.js";
import { createInspector } from "../../../src/public/inspect.js";
import { noTelemetry } from "../../../src/telemetry/index.js";
import { REGISTRY } from "../registry.js";
import { answerLines, firstLine } from "./lines.js";

/** A gateway in its own process, with everything that could hold content: a store, message capture and a log. */
export interface GatewayFacts {
  readonly upstream: string;
  readonly mode: "adopt" | "relay";
  readonly store: string;
  readonly pin: string;
}

const { upstream, mode, store: file, pin }: GatewayFacts = JSON.parse(await firstLine());
const inspector = createInspector({ ids: { newId: () => crypto.randomUUID() }, clock: { now: () => Date.now() } });
const bridged = await bridge(upstream, {
  protocols: REGISTRY,
  pin,
  discoveryCache: new DiscoveryCache(),
  bridge: { name: "worker", mode },
});
const server = await serve(bridged, {
  protocols: REGISTRY,
  identity: createIdentity({ name: "gateway", did: "key" }),
  store: await openSqliteStore({ file, now: Date.now }),
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
