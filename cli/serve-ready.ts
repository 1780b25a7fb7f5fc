import {
  type Agent,
  AgentError,
  createHost,
  describeSecurity,
  front,
  type Interface,
  protocols,
  type ServeOptions,
  type Server,
  type Store,
} from "../src/index.js";
import { callsToTry } from "./calls-to-try.js";
import type { Output } from "./output.js";
import type { ServeCommandOptions } from "./serve-options.js";
import type { Door } from "./tokens.js";

const IDS = { now: Date.now, newId: () => crypto.randomUUID() };
const IN_MEMORY = "in memory: lost when this process ends";

/** What the port answers at, asked of the protocols themselves. */
export function interfacesOf(
  agents: readonly Agent[],
  name: string,
  url: string,
  settings: NonNullable<ServeOptions["settings"]>,
): readonly Interface[] {
  const host = createHost({
    handler: () => Promise.reject(new AgentError("internal", "this host answers nobody")),
    cards: agents.map(({ card }) => card),
    ids: IDS,
    http2: true,
    settings,
  });
  return front(host, protocols).interfaces(name, url);
}

export interface Ready {
  readonly server: Server;
  readonly agents: readonly Agent[];
  /** One list per agent. */
  readonly interfaces: readonly (readonly Interface[])[];
  readonly door: Door;
  readonly store: Store | undefined;
  readonly artifacts: string | undefined;
  readonly warnings: readonly string[];
  readonly options: ServeCommandOptions;
}

export function sayReady(ready: Ready, output: Output): void {
  const { server, agents, interfaces, door, store, artifacts, warnings, options } = ready;
  const { bold, dim, yellow } = output.colors;
  output.say(`Serving at ${bold(server.url)}`);
  for (const [index, { name, card }] of agents.entries()) {
    output.say(`  ${bold(name)}  ${card.description}`);
    for (const { protocol, version, binding, url } of interfaces[index] ?? [])
      output.say(dim(`    ${`${protocol}@${version}`.padEnd(10)} ${binding.padEnd(10)} ${url}`));
  }
  output.say(`  callers    ${door.words}`);
  output.say(`  tasks      ${store?.durability ?? IN_MEMORY}`);
  output.say(`  artifacts  ${artifacts === undefined ? IN_MEMORY : `in ${artifacts}`}`);
  if (options.metrics !== undefined)
    output.say(`  metrics    ${server.url}/metrics (${options.metrics === true ? "loopback" : options.metrics})`);
  for (const warning of warnings) output.say(yellow(`  warning    ${warning}`));
  if (options.try === true) {
    output.say("\nTry, in another terminal:\n");
    const security = describeSecurity(door.admission);
    for (const line of callsToTry({ url: server.url, interfaces: interfaces[0] ?? [], security }))
      output.say(line.startsWith("#") ? dim(`  ${line}`) : `  ${line}`);
  }
  output.say(dim("\nCtrl-C stops it, after the calls under way have ended."));
}

export function readyJson({ server, agents, interfaces, store, options }: Ready) {
  return {
    kind: "serving",
    url: server.url,
    port: server.port,
    agents: agents.map(({ name }) => name),
    interfaces: interfaces.flat().map(({ protocol, version, binding, url }) => ({ protocol, version, binding, url })),
    store: options.store !== undefined ? "redis" : options.data !== undefined ? "sqlite" : "memory",
    durability: store?.durability ?? IN_MEMORY,
  };
}
