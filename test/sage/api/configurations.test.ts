import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, connect, createMemoryStore, serve } from "../../../src/index.js";
import {
  isSageError,
  koineOptions,
  type Message,
  MockProtocol,
  newAgent,
  newMessage,
  openDidManager,
  optional,
  ProtocolA2A,
  ProtocolAuto,
  ProtocolSAGE,
  withSession,
} from "../../../src/protocols/sage/api/index.js";
import { DoorWorld } from "./world.js";

/** The three configurations of the seed, and what each sends to agents of the others. */

const world = new DoorWorld();
let desk: { readonly url: string; readonly did: string };
let plainUrl: string;
beforeAll(async () => {
  desk = await world.desk();
  const plain = newAgent("plain")
    .withProtocol(ProtocolA2A)
    .onMessage((message) => `plain: ${message.text}`)
    .build();
  const server = await plain.serve();
  world.closing(() => server.close());
  plainUrl = server.url;
});
afterAll(() => world.close());

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
const named = async (promise: Promise<unknown>): Promise<string | undefined> =>
  ((await failure(promise)) as Error | undefined)?.name;

describe("A2A only", () => {
  const ann = newAgent("ann").withProtocol(ProtocolA2A).build();
  afterAll(() => ann.close());

  test("sends plain messages, and says that the answer is not protected", async () => {
    const response = await ann.sendMessage(newMessage("hello", { recipientUrl: plainUrl }));
    expect(response).toMatchObject({ text: "plain: hello", security: { protected: false }, message: { role: "agent" } });
  });

  test("sends nothing that asks for SAGE", async () => {
    const marked = newMessage("hello", { recipientUrl: plainUrl, security: { mode: "sage" } });
    expect(await named(ann.sendMessage(marked))).toBe("ErrDowngradeRefused");
    expect(await named(ann.sendMessage(newMessage("hello", { recipientDid: desk.did })))).toBe("ErrDowngradeRefused");
  });

  test("is refused by an agent that uses SAGE only", async () => {
    expect(await failure(ann.sendMessage(newMessage("hello", { recipientUrl: desk.url })))).toMatchObject({
      code: "downgrade_refused",
    });
  });

  test("serves an agent that refuses requests of SAGE instead of handling them as plain ones", async () => {
    const headers = { "content-type": "application/json", "a2a-version": "1.0", "x-agent-did": desk.did };
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
    const answer = await (await fetch(`${plainUrl}/a2a`, { method: "POST", headers, body })).json();
    expect(answer).toMatchObject({ error: { data: [{ metadata: { error: "ErrDowngradeRefused" } }] } });
    const { "x-agent-did": _, ...unmarked } = headers;
    expect(await (await fetch(`${plainUrl}/a2a`, { method: "POST", headers: unmarked, body })).json()).toHaveProperty("result");
  });
});

describe("SAGE only", () => {
  test("sends sealed messages to a DID, one after the other in one session", async () => {
    const options = await world.sageOf();
    const ann = newAgent("ann").withProtocol(ProtocolSAGE).withSAGE(options).build();
    world.closing(() => ann.close());
    expect(await ann.isAvailable()).toBe(true);
    const session = await ann.establishSession(desk.did);
    expect(session).toMatchObject({ peerDid: desk.did, isUsable: true });
    for (let i = 0; i < 3; i++) {
      const response = await ann.sendMessage(newMessage(`hello ${i}`, { recipientDid: desk.did }), withSession(session));
      expect(response).toMatchObject({
        text: `${options.did}: hello ${i}`,
        security: { protected: true, did: desk.did },
      });
    }
    expect((await ann.establishSession(desk.did)).sessionId).toBe(session.sessionId);
    session.close();
    expect(await named(ann.sendMessage(newMessage("late", { recipientDid: desk.did }), withSession(session)))).toBe(
      "ErrSessionExpired",
    );
    // Without naming it, the next session is made.
    expect((await ann.sendMessage(newMessage("on", { recipientDid: desk.did }))).text).toContain("on");
  });

  test("streams", async () => {
    const ann = newAgent("ann")
      .withProtocol(ProtocolSAGE)
      .withSAGE(await world.sageOf())
      .build();
    world.closing(() => ann.close());
    const events = [];
    for await (const event of ann.streamMessage(newMessage("hello", { recipientDid: desk.did }))) events.push(event.kind);
    expect(events).toEqual(["message"]);
  });

  test("sends nothing to an agent that does not offer it", async () => {
    const ann = newAgent("ann")
      .withProtocol(ProtocolSAGE)
      .withSAGE(await world.sageOf())
      .build();
    world.closing(() => ann.close());
    expect(await failure(ann.sendMessage(newMessage("hello", { recipientUrl: plainUrl })))).toBeDefined();
  });

  test("needs an identity, of the DID and network that it names", async () => {
    const { identity: _, ...sage } = await world.sageOf();
    expect(() => newAgent("ann").withProtocol(ProtocolSAGE).build()).toThrow("needs the DID");
    expect(() =>
      newAgent("a")
        .withProtocol(ProtocolSAGE)
        .withSAGE({ ...sage, network: "kaia" })
        .build(),
    ).toThrow("not of kaia");
    const nameless = newAgent("a").withProtocol(ProtocolSAGE).withSAGE(sage).build();
    await expect(nameless.sendMessage(newMessage("x", { recipientDid: desk.did }))).rejects.toThrow("KOINE_IDENTITY");
    const other = { ...(await world.sageOf()), did: desk.did };
    await expect(newAgent("a").withProtocol(ProtocolSAGE).withSAGE(other).build().isAvailable()).rejects.toThrow("not of");
    expect(() => newAgent("a").withProtocol(ProtocolA2A).withSAGE(sage).build()).toThrow("ProtocolAuto");
  });
});

test("the store of an agent with SAGE is the one of its registry", async () => {
  const served = newAgent("ann")
    .withProtocol(ProtocolSAGE)
    .withSAGE(await world.sageOf())
    .onMessage(({ text }) => text)
    .build();
  await expect(served.serve({ store: createMemoryStore({ now: Date.now }) })).rejects.toThrow("given to withSAGE");
});

describe("auto", () => {
  test("uses SAGE where the card offers it, and A2A elsewhere", async () => {
    const ann = newAgent("ann")
      .withProtocol(ProtocolAuto)
      .withSAGE(optional(await world.sageOf()))
      .build();
    world.closing(() => ann.close());
    expect(await ann.sendMessage(newMessage("hello", { recipientUrl: desk.url }))).toMatchObject({
      security: { protected: true },
    });
    expect(await ann.sendMessage(newMessage("hello", { recipientUrl: plainUrl }))).toMatchObject({
      security: { protected: false },
    });
  });

  test("without an identity speaks A2A, and refuses what asks for SAGE", async () => {
    const ann = newAgent("ann").withProtocol(ProtocolAuto).withSAGE(optional()).build();
    world.closing(() => ann.close());
    expect((await ann.sendMessage(newMessage("hello", { recipientUrl: plainUrl }))).text).toBe("plain: hello");
    const marked = newMessage("hello", { recipientUrl: plainUrl, security: { mode: "sage" } });
    const refused = await failure(ann.sendMessage(marked));
    expect(isSageError(refused, "ErrDowngradeRefused")).toBe(true);
    expect(isSageError(refused, "ErrReplayAttack")).toBe(false);
    await expect(ann.establishSession(desk.did)).rejects.toThrow("no identity of SAGE");
    await expect(ann.serve()).rejects.toThrow("it only sends");
  });
});

test("the same as options of agent, serve and connect", async () => {
  const options = await koineOptions(ProtocolAuto, optional(await world.sageOf()));
  const secured = await connect(desk.url, await options.connect(desk.url));
  world.closing(() => secured.close());
  expect(secured.protocol).toBe("sage");
  const plain = await connect(plainUrl, await options.connect(plainUrl));
  world.closing(() => plain.close());
  expect(plain.protocol).toBe("a2a");
  const only = await koineOptions(ProtocolSAGE, await world.sageOf());
  const echo = agent({ name: "echo", description: "echo", handle: ({ text }) => text, ...only.agent });
  const server = await serve(echo, only.serve);
  world.closing(() => server.close());
  expect(server.interfaces("echo").map(({ protocol }) => protocol)).toContain("sage");
  const caller = await connect(server.url, await (await koineOptions(ProtocolA2A)).connect(server.url));
  world.closing(() => caller.close());
  expect(await failure(caller.ask("hello"))).toMatchObject({ code: "downgrade_refused" });
});

test("DIDs are looked up in the registry of the store", async () => {
  const didManager = openDidManager(await world.sageOf());
  expect(await didManager.resolvePublicKey(desk.did)).toMatchObject({
    id: expect.stringContaining(`${desk.did}#`),
    kind: "Ed25519",
  });
  expect(await didManager.getAgentInfo(desk.did)).toMatchObject({ active: true });
  await expect(didManager.getAgentInfo(`did:sage:local:0x${"0".repeat(40)}`)).rejects.toMatchObject({
    name: "ErrDIDNotResolved",
  });
});

test("a registry in the environment is a node and a contract", () => {
  process.env["KOINE_SAGE_RPC"] = "http://127.0.0.1:1";
  try {
    expect(() => openDidManager({ network: "local" })).toThrow("KOINE_SAGE_RPC and KOINE_SAGE_REGISTRY belong together");
  } finally {
    delete process.env["KOINE_SAGE_RPC"];
  }
});

test("a protocol of the user's own", async () => {
  const sent: Message[] = [];
  const mock = new MockProtocol({
    sendMessage: (message) => {
      sent.push(message);
      return { text: "Mocked response" };
    },
  });
  const tested = newAgent("test").withProtocol(mock).build();
  expect((await tested.sendMessage(newMessage("hello"))).text).toBe("Mocked response");
  expect(sent.map(({ parts }) => parts)).toEqual([[expect.objectContaining({ text: "hello" })]]);
  await expect(tested.getTask("t")).rejects.toThrow("no function getTask");
  await expect(tested.cancelTask("t")).rejects.toThrow("no function cancelTask");
  await expect(tested.streamMessage(newMessage("x"))[Symbol.asyncIterator]().next()).rejects.toThrow("streamMessage");
  await expect(tested.verifyMessage(newMessage("x"))).rejects.toThrow("protocol of its own");
  await tested.close();
});
