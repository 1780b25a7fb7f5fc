import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { agent, type Bridge, bridge, connect, DiscoveryCache, type RemoteAgent, type Server, serve } from "../../src/index.js";
import { heldBy, Reading } from "./processes/callers.js";

/** The card of the upstream is wrong. */

interface Question {
  readonly path: string;
  readonly method: string;
  readonly body: string;
}

/** What a faulty server does with a request: answers it, or forwards it, changed or not. */
type Lie = (question: Question) => { readonly answer: object } | { readonly ask: Question };

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const echo = () =>
  agent({
    name: "echo",
    description: "says it again",
    async *handle({ text }) {
      yield "heard: ";
      return text;
    },
  });

/** One of our servers, with a faulty proxy as its public address. */
async function lying(lie: Lie, tellsCard: (card: Record<string, unknown>) => object): Promise<string> {
  let url = "";
  const proxy: HttpServer = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const truth: Server = await serve(echo(), { publicUrl: url, limits: { drainMs: 0 } });
  opened.push(truth, {
    close() {
      proxy.closeAllConnections();
      proxy.close();
    },
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const question = { path: request.url ?? "/", method: request.method ?? "GET", body: Buffer.concat(pieces).toString() };
    const reply = lie(question);
    response.setHeader("content-type", "application/json");
    if ("answer" in reply) {
      response.end(JSON.stringify(reply.answer));
      return;
    }
    const { path, method, body } = reply.ask;
    const version = request.headers["a2a-version"];
    const headers = { "content-type": "application/json", ...(version === undefined ? {} : { "a2a-version": String(version) }) };
    const asked = await fetch(`http://127.0.0.1:${truth.port}${path}`, {
      method,
      headers,
      ...(method === "POST" ? { body } : {}),
    });
    response.statusCode = asked.status;
    response.setHeader("content-type", asked.headers.get("content-type") ?? "application/json");
    const text = await asked.text();
    response.end(path.startsWith("/.well-known/agent-card") ? JSON.stringify(tellsCard(JSON.parse(text))) : text);
  }
  return url;
}

async function callerThrough(url: string): Promise<{ readonly bridged: Bridge; readonly caller: RemoteAgent }> {
  const bridged = await bridge(url, { discoveryCache: new DiscoveryCache(), bridge: { name: "behind" } });
  opened.push(bridged);
  const gateway = await serve(bridged, { limits: { drainMs: 0 } });
  opened.push(gateway);
  const caller = await connect(gateway.url, { discoveryCache: new DiscoveryCache() });
  opened.push(caller);
  return { bridged, caller };
}

const pass: Lie = (question) => ({ ask: question });

/** Accepts only the methods of one version, as a server of that version does. */
function onlyMethods(known: (method: string) => boolean): Lie {
  return (question) => {
    if (question.method !== "POST") return { ask: question };
    const { id = null, method = "" } = JSON.parse(question.body) as { id?: unknown; method?: string };
    return known(method)
      ? { ask: question }
      : { answer: { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } } };
  };
}

/** Keeps only the JSON-RPC interface on the card, under the claimed version. */
function claims(version: string) {
  return (card: Record<string, unknown>): object => {
    const [first] = card["supportedInterfaces"] as { readonly url: string }[];
    const { preferredTransport: _, additionalInterfaces: __, protocolVersion: ___, url: ____, ...rest } = card;
    return { ...rest, supportedInterfaces: [{ url: first?.url, protocolBinding: "JSONRPC", protocolVersion: version }] };
  };
}

describe("a wrong card", () => {
  test.each([
    ["1.0", "0.3", (method: string) => method.includes("/")],
    ["0.3", "1.0", (method: string) => !method.includes("/")],
  ] as const)("that claims %s while the wire is %s: the actual version is found", async (claimed, real, known) => {
    const url = await lying(onlyMethods(known), claims(claimed));
    const { bridged, caller } = await callerThrough(url);
    expect(await caller.ask("hello")).toBe("heard: hello");
    expect(bridged.upstream.version).toBe(real);
  });

  test("that claims streaming while one document is returned: the document is the whole answer", async () => {
    const asOne: Lie = (question) => ({
      ask: { ...question, body: question.body.replace("SendStreamingMessage", "SendMessage") },
    });
    const { caller } = await callerThrough(await lying(asOne, claims("1.0")));
    const reading = new Reading(caller.stream("hello"));
    await reading.done;
    expect([reading.broke, reading.state, heldBy(reading.events).join("")]).toEqual([undefined, "completed", "heard: hello"]);
    expect(await caller.ask("after")).toBe("heard: after");
  });

  test("that changes while it is bridged: calls continue, and rediscovery finds the new one", async () => {
    let described = "as it was";
    const url = await lying(pass, (card) => ({ ...claims("1.0")(card), description: described }));
    const { bridged, caller } = await callerThrough(url);
    described = "as it is now";
    expect(await caller.ask("still")).toBe("heard: still");
    expect(bridged.upstream.card.description).toBe("as it was");
    await bridged.upstream.initialize();
    expect(bridged.upstream.card.description).toBe("as it is now");
    expect(await caller.ask("again")).toBe("heard: again");
  });
});
