import { afterEach, expect, test } from "vitest";
import { type AgentEvent, bridge, DiscoveryCache, type Layer, serve } from "../../src/index.js";
import { isPromise } from "../../src/internal.js";
import { collect } from "./against-official.js";
import { newAcpClient } from "./gateway-client-acp.js";
import { SERVED_AS, watchCancels } from "./gateway-fleet.js";
import { startOfficial13 } from "./official-1.3.js";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Holds back the first event of the agent until it is released. */
function slowToBegin(release: Promise<void>): Layer {
  return (next) => (operation, call) => {
    const reply = next(operation, call);
    return operation.kind === "send" && !isPromise(reply) ? late(reply, release) : reply;
  };
}

async function* late(reply: AsyncIterable<AgentEvent>, release: Promise<void>) {
  for await (const event of reply) {
    await release;
    yield event;
  }
}

test("a cancel before the agent has sent its task id still cancels that task", async () => {
  const official = await startOfficial13();
  closing.push(() => official.close());
  const cancels: string[] = [];
  let letGo = (): void => undefined;
  const release = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const layers = [watchCancels((outcome) => void cancels.push(outcome)), slowToBegin(release)];
  const bridged = await bridge(official.url, { discoveryCache: new DiscoveryCache(), layers, bridge: { name: SERVED_AS } });
  closing.push(() => bridged.close());
  const gateway = await serve(bridged);
  closing.push(() => gateway.close());

  const client = newAcpClient(gateway.url);
  const events = client.runStream(SERVED_AS, "conform: wait");
  const begun = (await events.next()).value;
  const id = begun && "run" in begun ? begun.run.run_id : "";
  const rest = collect(events);
  await client.runCancel(id);
  expect((await rest).at(-1)?.type).toBe("run.cancelled");
  expect(cancels).toEqual([]);
  letGo();
  await expect.poll(() => cancels).toEqual(["canceled"]);
});
