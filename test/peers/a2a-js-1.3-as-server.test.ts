import { afterEach, describe, expect, test } from "vitest";
import { connect, DiscoveryCache, type Operation, type RemoteAgent } from "../../src/index.js";
import { startCall } from "../../src/public/protocols.js";
import { collect, describeOfficial, NAMELESS, PARTS } from "./against-official.js";
import type { OfficialServer } from "./official.js";
import { type Official13Options, startOfficial13 } from "./official-1.3.js";

describeOfficial({
  name: "@a2a-js/sdk 1.3.0",
  start: () => startOfficial13({ legacy: true }),
  interfaces: [
    { pin: "a2a@1.0/JSONRPC", closed: "unsupported", extended: "unsupported", echoed: PARTS },
    { pin: "a2a@1.0/HTTP+JSON", closed: "unsupported", extended: "unsupported", echoed: PARTS },
    { pin: "a2a@0.3/JSONRPC", closed: "unsupported", extended: "unsupported", unlisted: "unsupported_method", echoed: PARTS },
    {
      pin: "a2a@0.3/HTTP+JSON",
      closed: "unsupported",
      extended: "unsupported",
      unlisted: "unsupported_method",
      echoed: NAMELESS,
    },
  ],
});

describe("our client and the card of an official 1.3.0 server", () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
  });

  async function meet(options: Official13Options, pin?: string): Promise<{ server: OfficialServer; remote: RemoteAgent }> {
    const server = await startOfficial13(options);
    open.push(server);
    const remote = await connect(server.url, { discoveryCache: new DiscoveryCache(), ...(pin === undefined ? {} : { pin }) });
    open.push(remote);
    return { server, remote };
  }

  test("the order of the card decides if the card is correct", async () => {
    const { server, remote } = await meet({ legacy: true });
    expect([remote.version, remote.binding, remote.verified]).toEqual(["1.0", "JSONRPC", true]);
    expect(remote.evidence).toEqual([
      `agent card at ${server.url}/.well-known/agent-card.json (official)`,
      `a probe of JSONRPC 1.0 at ${server.url}/rpc was answered in that version`,
    ]);
  });

  test("a card that claims 1.0 while only 0.3 is served is detected", async () => {
    const { server, remote } = await meet({ lying: true });
    expect([remote.version, remote.binding, remote.verified]).toEqual(["0.3", "JSONRPC", true]);
    expect(remote.evidence.at(-1)).toBe(`the card does not list it, but a probe of JSONRPC 0.3 at ${server.url}/rpc succeeded`);
    expect(await remote.ask("hello")).toBe("you said: hello");
    const events = await collect(remote.stream("conform: task"));
    expect(events.at(-1)).toMatchObject({ kind: "status", status: { state: "completed" } });
  });

  test("a pin to an unsupported interface is refused by name", async () => {
    await expect(meet({}, "a2a@0.3")).rejects.toMatchObject({
      code: "unsupported",
      message: "the peer has no interface for a2a@0.3; available: a2a@1.0/JSONRPC, a2a@1.0/HTTP+JSON",
    });
  });

  test("one message can use another version than the rest", async () => {
    const { remote } = await meet({ legacy: true });
    expect(await remote.ask("hello", { hint: "a2a@0.3" })).toBe("you said: hello");
    expect(remote.version).toBe("1.0");
  });

  test("a server with an extended card gives it", async () => {
    const { remote } = await meet({ extended: true });
    expect((await remote.extendedCard()).description).toBe("told to friends");
  });

  // Not by 0.3 REST: this SDK expects another body there than those of its own 0.3 generation do.
  test.each(["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@0.3/JSONRPC"])(
    "push configurations are stored, read, listed and deleted by %s",
    async (pin) => {
      const { remote } = await meet({ push: true, legacy: true }, pin);
      const asked = await remote.send("conform: ask");
      const taskId = asked.kind === "task" ? asked.task.id : "";
      const config = { id: "hook", taskId, url: "https://hooks.example/a", token: "opaque" };
      expect(await one(remote, { kind: "push.set", config })).toMatchObject({ kind: "push", config });
      expect(await one(remote, { kind: "push.get", taskId, id: "hook" })).toMatchObject({ kind: "push", config });
      expect(await one(remote, { kind: "push.list", taskId })).toMatchObject({ kind: "pushes", configs: [config] });
      expect(await one(remote, { kind: "push.delete", taskId, id: "hook" })).toMatchObject({ kind: "done" });
      expect(await one(remote, { kind: "push.list", taskId })).toMatchObject({ kind: "pushes", configs: [] });
    },
  );
});

function one(remote: RemoteAgent, operation: Operation) {
  return remote.handler(operation, startCall());
}
