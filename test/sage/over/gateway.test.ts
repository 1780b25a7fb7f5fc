import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AgentError, agent, bridge, serve } from "../../../src/index.js";
import type { LocalIdentity } from "../../../src/security/identity/index.js";
import { freePort } from "../../anp/directory.js";
import { Watermark } from "../../helpers/watermark.js";
import { ALL_PROTOCOLS, SageWorld, SETTINGS } from "../world.js";
import { call, INTERFACES, type Over, serveOver, settingsOver } from "./way.js";

// Each test starts an agent and a gateway, and makes a session by handshake.
vi.setConfig({ testTimeout: 60_000 });

/** A gateway whose listener and upstream carry SAGE by different protocols: it passes on what the agents seal, and reads none of it. */

let world: SageWorld;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  world = new SageWorld();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await world.close();
});

const desk = agent({
  name: "desk",
  description: "repeats",
  async *handle(message, task) {
    if (message.text.startsWith("stream")) {
      yield task.working("busy");
      yield task.artifact(message.text);
      return task.complete("done");
    }
    if (message.text === "ask") return task.ask("which one?");
    return message.text;
  },
});

interface Way {
  readonly listener: Over;
  readonly upstream: Over;
  readonly mode: "adopt" | "relay";
}

/** The agent behind a gateway, the caller in front of it, and all that the gateway handled. */
async function through({ listener, upstream, mode }: Way, seal = true) {
  const [ann, middle] = [await world.register(), await world.register()];
  const behind = await serveOver(world, desk, upstream, { relays: middle.did });
  const port = await freePort();
  const bridged = await bridge(behind.identity.did, {
    ...{ protocols: ALL_PROTOCOLS, pin: `sage@1/${INTERFACES[upstream]}`, identity: middle },
    ...{ settings: SETTINGS, records: world.store.records, bridge: { mode, name: "desk" } },
  });
  closing.push(() => bridged.close());
  const seen: unknown[] = [];
  const server = await serve(bridged, {
    layers: [
      (next) => (operation, from) => {
        if (operation.kind === "send") seen.push(operation.envelope);
        return next(operation, from);
      },
    ],
    ...{ protocols: ALL_PROTOCOLS, port, identity: middle, store: world.store },
    settings: settingsOver(listener, { passOn: true }),
  });
  closing.push(() => server.close());
  return { peer: await caller(`http://127.0.0.1:${port}`, ann, { did: behind.identity.did, gateway: middle.did, seal }), seen };
}

function caller(url: string, identity: LocalIdentity, { did, ...sage }: { did: string; gateway: string; seal: boolean }) {
  return call({ world, url, caller: identity, did }, { pin: "sage", resume: false, settings: { sage } });
}

const WAYS: readonly (readonly [Over, Over])[] = [
  ["acp", "acp"],
  ["agora", "agora"],
  ["acp", "agora"],
  ["agora", "a2a"],
  ["a2a", "acp"],
];

describe.each(WAYS)("through a gateway, over %s to it and over %s behind it", (listener, upstream) => {
  test.each(["relay", "adopt"] as const)("in %s mode, it reads nothing of what the agents seal", async (mode) => {
    const mark = new Watermark("mark-5c0ffee5c0ffee5c0ffee");
    const { peer, seen } = await through({ listener, upstream, mode });
    expect([peer.protocol, peer.binding]).toEqual(["sage", INTERFACES[listener]]);
    expect(await peer.ask(mark.text)).toBe(mark.text);
    expect(seen.length).toBeGreaterThan(0);
    expect([...mark.inText(JSON.stringify(seen)).forms]).toEqual([]);
    // The control: signed and not sealed, the same search finds it.
    const clear = await through({ listener, upstream, mode }, false);
    expect(await clear.peer.ask(mark.text)).toBe(mark.text);
    expect([...mark.inText(JSON.stringify(clear.seen)).forms]).toContain("utf-8");
  });
});

test.each(["relay", "adopt"] as const)("a stream over ACP on both sides of a gateway arrives to its end (%s)", async (mode) => {
  const { peer } = await through({ listener: "acp", upstream: "acp", mode });
  const states: string[] = [];
  for await (const event of peer.stream("stream it")) if (event.kind === "status") states.push(event.status.state);
  expect(states).toEqual(["working", "completed"]);
});

describe.each(["acp", "agora"] as const)("a question through a gateway over %s on both sides", (over) => {
  const asked = async () => {
    const { peer } = await through({ listener: over, upstream: over, mode: "relay" });
    const first = await peer.send("ask");
    const task = first.kind === "task" ? first.task : undefined;
    expect(task?.status.state).toBe("input-required");
    return { peer, id: task?.id ?? "" };
  };

  test("belongs to the author, who gets its task", async () => {
    const { peer, id } = await asked();
    const { status } = await peer.getTask(id);
    expect(status.message?.content).toMatchObject([{ kind: "text", text: "which one?" }]);
  });

  // The server of ACP looks for a run before it resumes or cancels it, which nobody signed for.
  test("is answered and cancelled by the author, or refused by the agent where ACP brings it", async () => {
    const { peer, id } = await asked();
    const codeOf = (thrown: unknown): string => AgentError.from(thrown).code;
    const answered = await peer
      .send("that", { task: id })
      .then((event) => (event.kind === "task" ? event.task.status.state : event.kind), codeOf);
    const second = await peer.send("ask");
    const cancelled = await peer
      .cancelTask(second.kind === "task" ? second.task.id : "")
      .then(({ status }) => status.state, codeOf);
    expect([answered, cancelled]).toEqual(over === "acp" ? ["task_not_found", "bad_signature"] : ["completed", "canceled"]);
  });
});
