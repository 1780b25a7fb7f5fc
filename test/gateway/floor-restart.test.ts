import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { AgentEvent, Call, Floor, Handler } from "../../src/envelope/index.js";
import { agent, connect, DiscoveryCache, openSqliteStore, serve } from "../../src/index.js";
import { bridgedAgent } from "../../src/internal.js";
import { makeAuthority } from "../certificates.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An upstream whose task runs until the caller leaves; it records the floor of every call. */
function endlessUpstream(called: { readonly kind: string; readonly floor: Floor }[]) {
  const { card } = agent({ name: "peer", description: "works", handle: () => undefined });
  const handler: Handler = (operation, call) => {
    called.push({ kind: operation.kind, floor: call.floor });
    return endless(call);
  };
  return {
    handler,
    protocol: () => "toy",
    traits: () => ({ streaming: true, tasks: true, inputTurns: true }),
    card: () => ({ ...card, capabilities: { ...card.capabilities, streaming: true, resume: true } }),
  };
}

async function* endless(call: Call): AsyncGenerator<AgentEvent, void, void> {
  yield { kind: "status", taskId: "t-1", contextId: "c-1", status: { state: "working", at: 0, message: undefined } };
  await new Promise((_, reject) => void call.cancel.onCancel(reject));
}

test("a task keeps the floor of its call when another process of the gateway continues it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "koine-floor-"));
  closing.push(() => rmSync(folder, { recursive: true }));
  const authority = await makeAuthority();
  const tls = await authority.issue({ hosts: ["127.0.0.1"] });
  const secret = new TextEncoder().encode("a secret that both processes have");
  const gateway = async (called: { readonly kind: string; readonly floor: Floor }[]) => {
    const store = await openSqliteStore({ file: join(folder, "tasks.db"), now: Date.now });
    closing.push(() => store.close?.());
    const bridged = bridgedAgent(endlessUpstream(called), { signed: false, upstreamUrls: [] }, { name: "peer", secret });
    const server = await serve(bridged, {
      tls,
      store,
      limits: { drainMs: 0 },
      taskLimits: { leaseMs: 1_000, renewEveryMs: 200 },
    });
    closing.push(() => server.close());
    return server;
  };
  const before: { readonly kind: string; readonly floor: Floor }[] = [];
  const first = await gateway(before);
  const caller = await connect(first.url, { credentials: { tls: { ca: authority.ca } }, discoveryCache: new DiscoveryCache() });
  closing.push(() => caller.close());
  const stream = caller.stream("work")[Symbol.asyncIterator]();
  await stream.next();
  await expect.poll(() => before.length).toBe(1);
  expect(before[0]?.floor.encrypted).toBe(true);
  await first.close();
  await stream.return?.(undefined);
  const after: { readonly kind: string; readonly floor: Floor }[] = [];
  await gateway(after);
  await expect.poll(() => after.length, { timeout: 15_000 }).toBeGreaterThan(0);
  expect(after[0]).toEqual({ kind: "task.subscribe", floor: before[0]?.floor });
});
