import { createRequire } from "node:module";
import type * as AcpSdk from "acp-sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AgentEvent, JsonObject, Part } from "../../../src/envelope/index.js";
import { agent } from "../../../src/index.js";
import type { LocalIdentity } from "../../../src/security/identity/index.js";
import { ALL_PROTOCOLS, SageWorld, SETTINGS } from "../world.js";
import { call, INTERFACES, OVERS, serveOver } from "./way.js";

// Its ES modules import JSON without an import attribute, which Node refuses.
const { Client } = createRequire(import.meta.url)("acp-sdk") as typeof AcpSdk;

/** SAGE over each of its protocols, between real sockets: what arrives, and what the interface says. */

let world: SageWorld;
let ann: LocalIdentity;
beforeEach(async () => {
  world = new SageWorld();
  ann = await world.register();
});
afterEach(() => world.close());

const clerk = agent({
  name: "clerk",
  description: "works on tasks",
  async *handle(message, task) {
    const [file] = message.content.filter(({ kind }) => kind === "raw");
    if (file?.kind === "raw") return `${file.name} has ${file.bytes.length} bytes of ${file.mediaType}`;
    if (message.text === "plain") return `${task.owner}: ${message.text}`;
    if (message.text === "unclear") return task.ask("which one?");
    if (message.text === "long") await new Promise<void>((resolve) => task.signal.addEventListener("abort", () => resolve()));
    yield task.working("busy");
    yield task.artifact(`copy of ${message.text}`);
    return task.complete(`done ${message.text}`);
  },
});

const textOf = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === "text" ? part.text : (part.mediaType ?? ""))).join("");

function shown(event: AgentEvent): string {
  switch (event.kind) {
    case "task":
      return `task ${event.task.status.state}`;
    case "artifact":
      return textOf(event.artifact.parts);
    case "status":
      return `${event.status.state} ${textOf(event.status.message?.content ?? [])}`;
    case "message":
      return textOf(event.message.content);
    default:
      return event.kind;
  }
}

describe.each(OVERS)("SAGE over %s", (over) => {
  const called = async (more: JsonObject = {}) => {
    const { url, identity } = await serveOver(world, clerk, over);
    return call({ world, url: url, caller: ann, did: identity.did }, { settings: { sage: more } });
  };

  test.each([true, false])("answers, and its interface says over what (sealed: %s)", async (seal) => {
    const peer = await called({ seal });
    expect([peer.protocol, peer.version, peer.binding]).toEqual(["sage", "1", INTERFACES[over]]);
    expect(await peer.ask("plain")).toBe(`did:${ann.did}: plain`);
  });

  test.each([true, false])("answers with the task (sealed: %s)", async (seal) => {
    const peer = await called({ seal });
    const event = await peer.send("work");
    expect(event).toMatchObject({ kind: "task", task: { status: { state: "completed" } } });
    const task = event.kind === "task" ? event.task : undefined;
    expect(task?.artifacts.map(({ parts }) => textOf(parts))).toEqual(["copy of work"]);
    expect(textOf(task?.status.message?.content ?? [])).toBe("done work");
  });

  test.each([true, false])("streams to the end (sealed: %s)", async (seal) => {
    const peer = await called({ seal });
    const events: string[] = [];
    for await (const event of peer.stream("work")) events.push(shown(event));
    expect(events).toEqual(
      over === "agora"
        ? ["task completed"]
        : [expect.stringContaining("task"), "working busy", "copy of work", "completed done work"],
    );
  });

  test("goes on with the answer to a question", async () => {
    const peer = await called();
    const first = await peer.send("unclear");
    expect(first).toMatchObject({ kind: "task", task: { status: { state: "input-required" } } });
    const task = first.kind === "task" ? first.task : undefined;
    expect(textOf(task?.status.message?.content ?? [])).toBe("which one?");
    const second = await peer.send("that one", { task: task?.id ?? "" });
    expect(second).toMatchObject({ kind: "task", task: { id: task?.id, status: { state: "completed" } } });
  });

  test("carries files, also such as do not fit into a header", async () => {
    const peer = await called();
    const file: Part = { kind: "raw", bytes: new Uint8Array(100_000), name: "plan.bin", mediaType: "application/x-plan" };
    expect(await peer.ask([file])).toBe("plan.bin has 100000 bytes of application/x-plan");
  });

  test("gets and cancels a task", async () => {
    const peer = await called();
    const begun = await peer.start("long");
    const id = begun.kind === "task" ? begun.task.id : "";
    expect(await peer.getTask(id)).toMatchObject({ id });
    await peer.cancelTask(id);
    await expect.poll(async () => (await peer.getTask(id)).status.state).toBe("canceled");
  });

  test("stays in a conversation", async () => {
    const peer = await called();
    expect(await peer.ask("plain", { session: "s-1" })).toContain("plain");
    expect(await peer.ask("plain", { session: "s-1" })).toContain("plain");
  });
});

describe("discovery", () => {
  test("finds SAGE at a server that has only ACP or only Agora beside it", async () => {
    for (const [over, plain] of [
      ["acp", "acp"],
      ["agora", "agora"],
    ] as const) {
      const protocols = ALL_PROTOCOLS.filter(({ id }) => id === plain || id === "sage");
      const { url, identity } = await world.serve(clerk, { protocols, settings: { sage: { ...SETTINGS.sage, over } } });
      expect((await fetch(`${url}/.well-known/agent-card.json`)).status).toBe(404);
      const named = await call({ world, url: url, caller: ann, did: identity.did });
      expect([named.protocol, named.binding, await named.ask("plain")]).toEqual([
        "sage",
        INTERFACES[over],
        `did:${ann.did}: plain`,
      ]);
      // By its address, with an identity: its manifest or document names the DID.
      const found = await world.connect(url, ann, { protocols: ALL_PROTOCOLS, pin: "sage" });
      expect(found.binding).toBe(INTERFACES[over]);
    }
  });

  test("takes the first protocol that is offered, the configured one, or the pinned interface", async () => {
    const all = { sage: { ...SETTINGS.sage, over: "a2a,acp,agora" } };
    const { url, identity } = await world.serve(clerk, { protocols: ALL_PROTOCOLS, settings: all });
    expect((await call({ world, url: url, caller: ann, did: identity.did })).binding).toBe("JSONRPC");
    const chosen = await call(
      { world, url: url, caller: ann, did: identity.did },
      { settings: { sage: { over: ["agora", "acp"] } } },
    );
    expect(chosen.binding).toBe("AGORA+HTTP");
    const pinned = await call({ world, url: url, caller: ann, did: identity.did }, { pin: "sage@1/ACP+REST" });
    expect([pinned.binding, await pinned.ask("plain")]).toEqual(["ACP+REST", `did:${ann.did}: plain`]);
  });

  test("refuses a server that has SAGE over other protocols than the caller wants, and a name that is none", async () => {
    const { url, identity } = await serveOver(world, clerk, undefined);
    const only = call({ world, url: url, caller: ann, did: identity.did }, { settings: { sage: { over: "acp" } } });
    await expect(only).rejects.toMatchObject({ code: "downgrade_refused" });
    const unknown = call({ world, url: url, caller: ann, did: identity.did }, { settings: { sage: { over: "smtp" } } });
    await expect(unknown).rejects.toMatchObject({ code: "invalid_message", facts: { field: "over" } });
    const server = world.serve(clerk, { protocols: ALL_PROTOCOLS, settings: { sage: { over: "smtp" } } });
    await expect(server).rejects.toMatchObject({ code: "invalid_message", facts: { field: "over" } });
  });

  test("does not change what a server with SAGE over A2A declares", async () => {
    const { url, identity } = await serveOver(world, clerk, undefined);
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as {
      capabilities: { extensions: { uri: string; params: object }[] };
      supportedInterfaces: { protocolBinding: string }[];
    };
    const [declared] = card.capabilities.extensions.filter(({ uri }) => uri === "urn:koine:sage:1");
    expect(declared?.params).toEqual({ did: identity.did, sessions: true, atRest: {} });
    expect(card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding).join()).not.toContain("+REST");
  });
});

test("the official client of ACP is served plainly beside SAGE over ACP", async () => {
  const { url, identity } = await serveOver(world, clerk, "acp");
  const official = new Client({ baseUrl: url });
  expect((await official.agents()).map(({ name }) => name)).toEqual(["clerk"]);
  const run = await official.runSync("clerk", "plain");
  expect([run.status, run.output[0]?.parts[0]?.content]).toEqual(["completed", expect.stringMatching(/: plain$/)]);
  expect(await (await call({ world, url, caller: ann, did: identity.did })).ask("plain")).toBe(`did:${ann.did}: plain`);
});
