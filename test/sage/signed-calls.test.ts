import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, DiscoveryCache } from "../../src/index.js";
import { SageWorld, SETTINGS, UNSEALED } from "./world.js";

/** Calls by SAGE between a server and clients over HTTP, with the embedded registry. */

let world: SageWorld;
beforeEach(() => {
  world = new SageWorld();
});
afterEach(() => world.close());

describe("an agent called by its DID", () => {
  test("knows its caller by the DID, and its answer is signed", async () => {
    const { identity: server } = await world.serve();
    const ann = await world.register();
    const peer = await world.connect(server.did, ann, { settings: UNSEALED });
    expect([peer.protocol, peer.version, peer.binding]).toEqual(["sage", "1", "JSONRPC"]);
    expect(await peer.ask("hello")).toBe(`did:${ann.did}: hello`);
    const answer = await peer.send("again");
    expect(answer).toMatchObject({ kind: "message", message: { proofs: [{ signer: server.did }] } });
    expect(peer.verified).toBe(true);
  });

  test("streams, and every operation of tasks works", async () => {
    const counting = agent({
      name: "counts",
      description: "counts",
      async *handle(message) {
        for (const word of message.text.split(" ")) yield `${word} `;
      },
    });
    const { identity: server } = await world.serve(counting);
    const peer = await world.connect(server.did, await world.register());
    const kinds: string[] = [];
    let taskId = "";
    for await (const event of peer.stream("one two three")) {
      kinds.push(event.kind);
      if (event.kind === "task") taskId = event.task.id;
    }
    expect(kinds[0]).toBe("task");
    expect(kinds.filter((kind) => kind === "artifact").length).toBeGreaterThanOrEqual(3);
    expect(await peer.getTask(taskId)).toMatchObject({ id: taskId, status: { state: "completed" } });
    expect((await peer.listTasks()).tasks.map(({ id }) => id)).toContain(taskId);
  });

  test("is refused before anything is sent to it without an identity, and by no other protocol", async () => {
    const { url, identity: server } = await world.serve();
    const ann = await world.register();
    await expect(world.connect(server.did, ann, { identity: undefined } as never)).rejects.toMatchObject({
      code: "unauthenticated",
      message: expect.stringContaining("koine sage create"),
    });
    await expect(world.connect(url, ann, { identity: undefined, pin: "sage" } as never)).rejects.toMatchObject({
      code: "unauthenticated",
      message: expect.stringContaining("koine sage create"),
    });
    await expect(world.connect(server.did, ann, { pin: "a2a" })).rejects.toThrow("the peer has no interface for");
  });

  test("requires that callers sign, if it says so: a plain call is refused", async () => {
    const { url, identity: server } = await world.serve(undefined, { require: ["signed", "identity"] });
    const ann = await world.register();
    const peer = await world.connect(server.did, ann, { require: ["signed", "identity"] });
    expect(await peer.ask("hello")).toBe(`did:${ann.did}: hello`);
    const plain = await world.connect(url, ann, { pin: "a2a" });
    await expect(plain.ask("hello")).rejects.toMatchObject({ code: "downgrade_refused" });
  });
});

describe("an agent called by its address", () => {
  test("is called by SAGE if the caller names it, and by A2A otherwise", async () => {
    const { url } = await world.serve();
    const ann = await world.register();
    const signed = await world.connect(url, ann, { pin: "sage" });
    expect(await signed.ask("hello")).toBe(`did:${ann.did}: hello`);
    // The DID is the card's: nobody vouches for it.
    const named = await world.connect(url, ann, { pin: "sage", require: ["identity"] });
    await expect(named.ask("hello")).rejects.toMatchObject({ code: "downgrade_refused" });
    expect((await world.connect(url, ann)).protocol).toBe("a2a");
  });

  test("is refused if it is not the one that sage.peer names, and is called by SAGE alone if it is", async () => {
    const { url, identity: server } = await world.serve();
    const [ann, other] = [await world.register(), await world.register()];
    const naming = (peer: string) => ({ settings: { sage: { ...SETTINGS.sage, peer } }, discoveryCache: new DiscoveryCache() });
    const named = await world.connect(url, ann, { ...naming(server.did), require: ["identity", "end-to-end"] });
    expect([named.protocol, await named.ask("hello")]).toEqual(["sage", `did:${ann.did}: hello`]);
    for (const pin of [undefined, "sage"])
      await expect(world.connect(url, ann, { ...naming(other.did), ...(pin && { pin }) })).rejects.toMatchObject({
        code: "bad_signature",
        message: `${other.did} was called, and the card at ${url} names ${server.did}`,
        facts: { sent: "no" },
      });
    await expect(world.connect(url, ann, { ...naming(server.did), pin: "a2a" })).rejects.toThrow("no interface for a2a");
    await expect(world.connect(server.did, ann, naming(other.did))).rejects.toMatchObject({
      code: "bad_signature",
      message: `${server.did} was called, and sage.peer names ${other.did}`,
    });
  });

  test("that does not offer SAGE gets no plain message where sage.peer names an agent", async () => {
    const { url } = await world.serve(undefined, { identity: undefined } as never);
    const [ann, desk] = [await world.register(), await world.register()];
    const settings = { sage: { ...SETTINGS.sage, peer: desk.did } };
    await expect(world.connect(url, ann, { settings })).rejects.toMatchObject({ code: "downgrade_refused" });
  });

  test("without an identity of SAGE does not offer it, and refuses marked requests", async () => {
    const { url } = await world.serve(undefined, { identity: undefined } as never);
    const ann = await world.register();
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
      capabilities: { extensions?: { uri: string }[] };
    };
    expect(card.capabilities.extensions?.map(({ uri }) => uri) ?? []).not.toContain("urn:koine:sage:1");
    await expect(world.connect(url, ann, { pin: "sage" })).rejects.toThrow("the peer has no interface for");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: {} });
    const headers = { "content-type": "application/json", "x-agent-did": ann.did };
    const answer = await fetch(`${url}/a2a`, { method: "POST", headers, body });
    expect(await answer.json()).toMatchObject({
      error: { data: [{ metadata: { error: "ErrDowngradeRefused", koineCode: "downgrade_refused" } }] },
    });
  });
});
