import type { Agent, Server, Store } from "../../src/index.js";
import { describeSecurity } from "../../src/public/auth.js";
import { callsToTry } from "./calls-to-try.js";
import type { Output } from "./output.js";
import type { ServeCommandOptions } from "./serve-options.js";
import type { CallerAdmission } from "./tokens.js";

const IN_MEMORY = "in memory: lost when this process ends";

export interface Ready {
  readonly server: Server;
  readonly agents: readonly Agent[];
  readonly door: CallerAdmission;
  readonly store: Store | undefined;
  readonly artifacts: string | undefined;
  readonly warnings: readonly string[];
  readonly options: ServeCommandOptions;
}

export async function sayReady(ready: Ready, output: Output): Promise<void> {
  const { server, agents, door, store, artifacts, warnings, options } = ready;
  const { bold, dim, yellow } = output.colors;
  output.say(`Serving at ${bold(server.url)}`);
  for (const { name, card } of agents) {
    output.say(`  ${bold(name)}  ${card.description}`);
    for (const { protocol, version, binding, url } of server.interfaces(name))
      output.say(dim(`    ${`${protocol}@${version}`.padEnd(10)} ${binding.padEnd(10)} ${url}`));
  }
  output.say(`  callers    ${door.words}`);
  output.say(`  tasks      ${store?.durability ?? IN_MEMORY}`);
  output.say(`  artifacts  ${artifacts === undefined ? IN_MEMORY : `in ${artifacts}`}`);
  // Only where it is: a path may hold what nobody else should see.
  if (options.modelUrl !== undefined) output.say(`  model      ${options.model} at ${new URL(options.modelUrl).host}`);
  if (options.metrics !== undefined)
    output.say(`  metrics    ${server.url}/metrics (${options.metrics === true ? "loopback" : options.metrics})`);
  for (const warning of warnings) output.say(yellow(`  warning    ${warning}`));
  if (options.try === true) {
    output.say("\nTry, in another terminal:\n");
    const security = describeSecurity(door.admission);
    for (const { name, card } of agents.slice(0, 1))
      for (const line of await callsToTry({ url: server.url, card, interfaces: server.interfaces(name), security }))
        output.say(line.startsWith("#") ? dim(`  ${line}`) : `  ${line}`);
  }
  output.say(dim("\nCtrl-C stops it, after the calls under way have ended."));
}

export function readyJson({ server, agents, store, options }: Ready) {
  const interfaces = agents.flatMap(({ name }) => server.interfaces(name));
  return {
    kind: "serving",
    url: server.url,
    port: server.port,
    agents: agents.map(({ name }) => name),
    interfaces: interfaces.map(({ protocol, version, binding, url }) => ({ protocol, version, binding, url })),
    store: options.store !== undefined ? "redis" : options.data !== undefined ? "sqlite" : "memory",
    durability: store?.durability ?? IN_MEMORY,
  };
}
