import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { agent, bridge, connect, type Server, serve } from "../src/index.js";

/** `min_version` and `max_version` of a message, and its `protocol_hint`, on the wire and through a gateway. */

interface Received {
  readonly hint: string | undefined;
  readonly least: string | undefined;
  readonly version: string | undefined;
}

let received: Received[] = [];
let server: Server;
beforeAll(async () => {
  const worker = agent({
    name: "worker",
    description: "notes what it gets",
    handle: (message, task) => {
      const { context, meta } = message;
      received.push({ hint: meta.protocolHint, least: context.minVersion, version: task.call?.via.version });
      return "done";
    },
  });
  server = await serve(worker);
});
beforeEach(() => {
  received = [];
});
afterAll(() => server?.close());

async function post(path: string, body: unknown) {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** A2A 0.3 has no field for versions: Koine carries the envelope in the metadata of the message. */
const withVersions = (versions: object) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "message/send",
  params: {
    message: {
      kind: "message",
      messageId: "m-1",
      role: "user",
      parts: [{ kind: "text", text: "hello" }],
      metadata: { "urn:koine:envelope:1": { context: versions } },
    },
  },
});

describe("a server refuses versions that do not fit", () => {
  test("A2A 0.3", async () => {
    expect((await post("/a2a", withVersions({ min_version: "1.0" }))).text).toMatch(/0\.3.*1\.0/);
    expect((await post("/a2a", withVersions({ max_version: "0.2.9" }))).text).toContain("0.2.9");
    expect((await post("/a2a", withVersions({ min_version: "one" }))).text).toContain("min_version");
    expect(received).toEqual([]);
    expect((await post("/a2a", withVersions({ min_version: "0.3", max_version: "0.3.0" }))).text).toContain("done");
    expect(received).toHaveLength(1);
  });

  test.each([
    ["/message", (context: object) => ({ params: { message: { text: "hello" }, context } })],
    ["/acp/message", (context: object) => ({ type: "request", payload: { text: "hello" }, context })],
  ])("the plain form at %s is version 1.0.0", async (path, body) => {
    for (const context of [{ min_version: "1.0.1" }, { max_version: "0.9" }]) {
      const refused = await post(path, body(context));
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("E_UNSUPPORTED")]);
    }
    expect(received).toEqual([]);
    expect((await post(path, body({ min_version: "1.0", max_version: "1.0.0" }))).status).toBe(200);
    expect(received).toHaveLength(1);
  });
});

test("a client uses an interface whose version fits, and sends nothing without one", async () => {
  const peer = await connect(server.url);
  try {
    expect(await peer.ask("hello", { maxVersion: "0.3" })).toBe("done");
    expect(await peer.ask("hello", { minVersion: "1.0" })).toBe("done");
    expect(received.map(({ version }) => version)).toEqual(["0.3", "1.0"]);
    await expect(peer.ask("hello", { minVersion: "9.0" })).rejects.toMatchObject({
      code: "unsupported_version",
      facts: { sent: "no" },
    });
    await expect(peer.ask("hello", { hint: "acp", minVersion: "1.0" })).rejects.toMatchObject({ code: "unsupported_version" });
    await expect(peer.ask("hello", { minVersion: "x" })).rejects.toMatchObject({ code: "invalid_message" });
    expect(received).toHaveLength(2);
  } finally {
    await peer.close();
  }
});

test("a range of versions never changes the protocol: numbers of different protocols have no order", async () => {
  const peer = await connect(server.url);
  try {
    expect(peer.protocol).toBe("a2a");
    expect(peer.interfaces.map(({ protocol, version }) => `${protocol}@${version}`)).toContain("anp@1.2");
    await expect(peer.ask("hello", { minVersion: "1.1" })).rejects.toMatchObject({
      code: "unsupported_version",
      message: expect.stringContaining("1.0 is below min_version 1.1"),
      facts: { sent: "no" },
    });
    await expect(peer.ask("hello", { hint: "a2a@0.3", minVersion: "1.0" })).rejects.toMatchObject({
      code: "unsupported_version",
    });
    expect(received).toEqual([]);
    expect(await peer.ask("hello", { hint: "anp", minVersion: "1.1" })).toBe("done");
    expect(await peer.ask("hello", { hint: "a2a", maxVersion: "0.9" })).toBe("done");
    expect(received.map(({ version }) => version)).toEqual(["1.2", "0.3"]);
  } finally {
    await peer.close();
  }
});

test.each(["adopt", "relay"] as const)(
  "a gateway that is to %s passes hint and versions on, and they hold at its listener",
  async (mode) => {
    const bridged = await bridge(server.url, { pin: "acp", bridge: { name: "bridged", mode } });
    const gateway = await serve(bridged);
    const caller = await connect(gateway.url);
    try {
      // The upstream interface is that of the gateway: the caller's hint and versions are about its own.
      expect(await caller.ask("hello", { hint: "a2a@1.0", minVersion: "1.0" })).toBe("done");
      expect(received).toEqual([{ hint: "a2a@1.0", least: "1.0", version: "0.2" }]);
      await expect(caller.ask("hello", { hint: "a2a@0.3", minVersion: "1.0" })).rejects.toMatchObject({
        code: "unsupported_version",
      });
      expect(received).toHaveLength(1);
    } finally {
      await caller.close();
      await gateway.close();
      await bridged.close();
    }
  },
);
