import { type Bridge, bridge, DiscoveryCache, type Layer, type Server, serve } from "../../src/index.js";
import { isPromise } from "../../src/internal.js";

/** An official agent, and the interface by which a gateway calls it. */
export interface OfficialAgent {
  readonly name: string;
  readonly pin: string;
  readonly url: string;
}

/** One gateway for each agent. */
export interface Fleet {
  /** The address of each gateway, by the name of its agent. */
  readonly addresses: { readonly [agent: string]: string };
  /** The states that an agent reported for its cancelled tasks, or why it refused. */
  cancels(agent: string): readonly string[];
  close(): Promise<void>;
}

/** The name of the agent at every gateway. */
export const SERVED_AS = "conform";

/** Starts one gateway for each agent, serving every protocol. */
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

/** Reports the state an agent returns for a cancelled task, or why it refused. */
export function watchCancels(report: (outcome: string) => void): Layer {
  return (next) => (operation, call) => {
    const reply = next(operation, call);
    if (operation.kind !== "task.cancel" || !isPromise(reply)) return reply;
    return reply.then(
      (event) => {
        report(event.kind === "task" ? event.task.status.state : event.kind);
        return event;
      },
      (thrown: unknown) => {
        report(String(thrown));
        throw thrown;
      },
    );
  };
}
