import { afterEach, describe, expect, test } from "vitest";
import { type AgentEvent, agent, bridge, connect, DiscoveryCache, serve } from "../src/index.js";

/** A server that stops gracefully delivers the events that its agents have produced, the last one included. */

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

/** An agent that goes on when it is told to. */
function createWriter() {
  let goOn: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const writer = agent({
    name: "writer",
    description: "writes two pieces",
    async *handle() {
      yield "first ";
      await told;
      yield "second ";
      return "third";
    },
  });
  return { writer, goOn: () => goOn() };
}

/** Reads a stream to its end while the server stops. */
async function readWhileStopping(url: string, pin: string, stop: () => Promise<unknown>): Promise<readonly AgentEvent[]> {
  const peer = opened(await connect(url, { pin, discoveryCache: new DiscoveryCache() }));
  const events: AgentEvent[] = [];
  let stopping: Promise<unknown> | undefined;
  for await (const event of peer.stream("write")) {
    events.push(event);
    if (event.kind === "artifact") stopping ??= stop();
  }
  await stopping;
  return events;
}

function stateOf(event: AgentEvent | undefined): string {
  return event?.kind === "status" ? event.status.state : event?.kind === "task" ? event.task.status.state : `${event?.kind}`;
}

describe.each(["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@1.0/GRPC", "a2a@0.3/JSONRPC", "acp"])(
  "the only stream by %s",
  (pin) => {
    test("gets its final event from a server that stops", async () => {
      const { writer, goOn } = createWriter();
      const server = opened(await serve(writer));
      const events = await readWhileStopping(server.url, pin, () => {
        const closed = server.close();
        goOn();
        return closed;
      });
      expect(stateOf(events.at(-1))).toBe("completed");
    });

    test("gets its final event from a gateway that stops", async () => {
      const { writer, goOn } = createWriter();
      const upstream = opened(await serve(writer));
      const bridged = await bridge(upstream.url, { discoveryCache: new DiscoveryCache() });
      const gateway = opened(await serve(bridged));
      const events = await readWhileStopping(gateway.url, pin, () => {
        const closed = gateway.close();
        goOn();
        return closed;
      });
      expect(stateOf(events.at(-1))).toBe("completed");
    });
  },
);
