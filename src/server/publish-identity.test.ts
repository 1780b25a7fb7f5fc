import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { sessionToy } from "../../test/session-toy/index.js";
import { toy } from "../../test/toy/index.js";
import { connect } from "../client/index.js";
import { CancelSource } from "../envelope/index.js";
import type { AdmissionFacts } from "../security/index.js";
import { createIdentity, createResolver, readDidDocument } from "../security/index.js";
import { agent } from "./agent.js";
import { type Mounted, mount } from "./mount.js";

const echo = agent({ name: "echo", description: "Repeats", handle: ({ text }) => text });
const closing: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** A real server whose public address is known before the agent is mounted. */
async function mountedAt(path: string, make: (publicUrl: string) => Parameters<typeof mount>[1]): Promise<string> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const publicUrl = `http://localhost:${(server.address() as AddressInfo).port}${path}`;
  const mounted: Mounted = mount(echo, { ...make(publicUrl), publicUrl });
  server.on("request", (request, response) => mounted.listener(request, response));
  closing.push(async () => {
    await mounted.close();
    server.closeAllConnections();
    server.close();
  });
  return publicUrl;
}

const didOf = (publicUrl: string): string => `did:web:${new URL(publicUrl).host.replace(":", "%3A")}`;

describe("a server with an identity", () => {
  test("publishes its DID document, by which it can be connected to", async () => {
    const identities: ReturnType<typeof createIdentity>[] = [];
    const publicUrl = await mountedAt("", (url) => {
      const identity = createIdentity({ name: "echo", did: didOf(url) });
      identities.push(identity);
      return { identity };
    });
    const response = await fetch(`${publicUrl}/.well-known/did.json`);
    expect(response.status).toBe(200);
    const did = didOf(publicUrl);
    const document = readDidDocument(new Uint8Array(await response.arrayBuffer()), did, Date.now());
    expect(document.keys.map(({ id, bytes }) => [id, Buffer.from(bytes)])).toEqual(
      identities[0]?.keys().map(({ id, bytes }) => [id, Buffer.from(bytes)]),
    );
    const resolver = createResolver({ httpForLoopback: true, from: "loopback" });
    const peer = await connect(did, { resolver });
    closing.push(() => peer.close());
    expect(await peer.ask("hello")).toBe("hello");
  });

  test("whose signing keys are all revoked says that its DID is out of use", async () => {
    const did = "did:web:agent.example";
    const identity = createIdentity({ name: "echo", did }).revoked(`${did}#key-1`);
    const mounted = mount(echo, { identity, publicUrl: "https://agent.example" });
    closing.push(() => mounted.close());
    const response = await mounted.fetch(new Request("https://agent.example/.well-known/did.json"));
    expect(await response.json()).toMatchObject({
      id: did,
      deactivated: true,
      authentication: [],
      keyAgreement: [`${did}#key-2`],
    });
  });

  test("below a path, publishes it there", () => {
    const identity = createIdentity({ name: "echo", did: "did:web:agent.example:agents" });
    const mounted = mount(echo, { identity, publicUrl: "https://agent.example/agents/", basePath: "/agents" });
    closing.push(() => mounted.close());
    return expect(mounted.fetch(new Request("https://agent.example/agents/did.json")).then(({ status }) => status)).resolves.toBe(
      200,
    );
  });

  test.each([
    ["another address", "https://other.example", "the DID of https://other.example is did:web:other.example"],
    ["no address", undefined, "no publicUrl"],
  ])("refuses an identity that it cannot use, with %s", (_, publicUrl, reason) => {
    const identity = createIdentity({ name: "echo", did: "did:web:agent.example" });
    expect(() => mount(echo, { protocols: [toy], identity, ...(publicUrl === undefined ? {} : { publicUrl }) })).toThrow(
      expect.objectContaining({
        code: "invalid_message",
        message: expect.stringContaining(reason),
        facts: { field: "identity" },
      }),
    );
  });

  test("gives it to a protocol that uses it, which need not publish it", () => {
    const identity = createIdentity({ name: "echo", did: "key" });
    const seen: unknown[] = [];
    const using = {
      ...sessionToy,
      usesIdentity: true,
      serve: (host: Parameters<typeof sessionToy.serve>[0]) => {
        seen.push(host.identity);
        return sessionToy.serve(host);
      },
    };
    const mounted = mount(echo, { identity, protocols: [using] });
    closing.push(() => mounted.close());
    expect(seen).toEqual([identity]);
  });
});

describe("admissions", () => {
  test("are given a resolver with the DID methods of the protocols", async () => {
    const found: unknown[] = [];
    const admission = async (_head: unknown, { resolver }: AdmissionFacts) => {
      const did = createIdentity({ name: "caller", did: "key" }).did;
      found.push((await resolver.resolve(did, new CancelSource())).document.id === did);
      found.push(await resolver.resolve("did:toy:%20", new CancelSource()).catch(({ code }: { code: string }) => code));
      return { id: "ann", scheme: "bearer" as const, scopes: [], owner: "bearer:ann" };
    };
    const mounted = mount(echo, { admission, protocols: [{ ...toy, didMethods: sessionToy.didMethods }] });
    closing.push(() => mounted.close());
    await mounted.fetch(new Request("http://localhost/toy", { method: "POST", body: "{}" }));
    expect(found).toEqual([true, "not_found"]);
  });
});
