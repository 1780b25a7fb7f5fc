import { type Bridge, bridge, DiscoveryCache, type Layer, type Server, serve } from "../../src/index.js";
import { isPromise } from "../../src/internal.js";

/** An official agent, and the one way in which a gateway calls it. */
export interface OfficialAgent {
  readonly name: string;
  readonly pin: string;
  readonly url: string;
}

/** A gateway before each agent. */
export interface Fleet {
  /** Where callers find each agent, by its name. */
  readonly addresses: { readonly [agent: string]: string };
  /** In which states an agent itself said that tasks were when they were cancelled there, or why it refused. */
  cancels(agent: string): readonly string[];
  close(): Promise<void>;
}

/** What the gateways call every agent. */
export const SERVED_AS = "conform";

/** Each agent behind a gateway of its own, on every protocol at once. */
export async function openFleet(agents: readonly OfficialAgent[]): Promise<Fleet> {
  const gateways = await Promise.all(agents.map(openGateway));
  const byName = new Map(gateways.map((gateway) => [gateway.name, gateway]));
  return {
    addresses: Object.fromEntries(gateways.map(({ name, server }) => [name, server.url])),
    cancels: (agent) => byName.get(agent)?.cancels ?? [],
    async close() {
      await Promise.all(
        gateways.map(async ({ server, bridged }) => {
          await server.close();
          await bridged.close();
        }),
      );
    },
  };
}

interface Gateway {
  readonly name: string;
  readonly bridged: Bridge;
  readonly server: Server;
  readonly cancels: readonly string[];
}

async function openGateway({ name, url, pin }: OfficialAgent): Promise<Gateway> {
  const cancels: string[] = [];
  const watch = watchCancels((outcome) => void cancels.push(outcome));
  const options = { pin, discoveryCache: new DiscoveryCache(), layers: [watch], bridge: { name: SERVED_AS } };
  const bridged = await bridge(url, options);
  return { name, bridged, server: await serve(bridged), cancels };
}

/** Tells the state in which an agent says a task to be when it is cancelled there, or why it refused. */
export function watchCancels(tell: (outcome: string) => void): Layer {
  return (next) => (operation, call) => {
    const reply = next(operation, call);
    if (operation.kind !== "task.cancel" || !isPromise(reply)) return reply;
    return reply.then(
      (event) => {
        tell(event.kind === "task" ? event.task.status.state : event.kind);
        return event;
      },
      (thrown: unknown) => {
        tell(String(thrown));
        throw thrown;
      },
    );
  };
}
