import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type AgentEvent, type Part, startCall, type Task } from "../../src/envelope/index.js";
import {
  type Agent,
  AgentError,
  agent,
  type ConnectOptions,
  connect,
  DiscoveryCache,
  type RemoteAgent,
  type ServeOptions,
  serve,
} from "../../src/index.js";
import { createAgora } from "../../src/protocols/agora/index.js";
import { bearerTokens } from "../../src/public/auth.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";

const ECHO = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: false\n---\nECHO the JSON body back.\n";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function reach(url: string, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const remote = await connect(url, { protocols: [createAgora()], discoveryCache: new DiscoveryCache(), as: "me", ...options });
  opened.push(() => remote.close());
  return remote;
}

async function served(
  made: Agent,
  settings: Record<string, string | number | boolean> = {},
  more: ServeOptions = {},
): Promise<string> {
  const server = await serve(made, { protocols: [createAgora()], settings: { agora: settings }, ...more });
  opened.push(() => server.close());
  return server.url;
}

const errorOf = (work: Promise<unknown>): Promise<AgentError> =>
  work.then(
    () => new AgentError("internal", "nothing was thrown"),
    (thrown: unknown) => AgentError.from(thrown),
  );

describe("client and server, over HTTP", () => {
  const guide = agent({
    name: "guide",
    description: "asks back",
    skills: [
      {
        id: "echo",
        name: "Echo",
        description: "echoes JSON",
        tags: [],
        document: ECHO,
        inputModes: ["application/json"],
        handle: (message) => ({ echoed: message.content[0]?.kind === "data" ? message.content[0].data : "no data" }),
      },
    ],
    async handle(message, task) {
      if (message.text === "fail") return task.fail("it broke");
      if (message.text === "weather") return task.ask("Which city?");
      if (message.text === "parts") return `${message.content.map(({ kind }) => kind).join()} with ${message.metadata?.["note"]}`;
      if (message.text === "hang")
        return new Promise<string>((_resolve, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason)));
      if (message.text === "slow") await new Promise((resolve) => setTimeout(resolve, 300));
      return task.turn > 1 ? `It is warm in ${message.text}.` : `you said: ${message.text}`;
    },
  });

  it("discover each other, and one message is one answer", async () => {
    const remote = await reach(await served(guide));
    expect([remote.protocol, remote.version, remote.binding, remote.verified]).toEqual(["agora", "0.2", "HTTP", true]);
    expect(remote.card).toMatchObject({ name: "guide", description: "asks back" });
    expect(remote.evidence[0]).toMatch(/\.well-known\/agora \(guide, 1 protocol document\)$/);
    await expect(remote.ask("hello")).resolves.toBe("you said: hello");
    await expect(remote.health()).resolves.toBe(true);
  });

  it("use a document without any model, JSON in and out", async () => {
    const remote = await reach(await served(guide));
    expect(remote.card.skills).toMatchObject([{ id: "echo", document: ECHO }]);
    const event = await remote.send({ a: [1, null] }, { intent: "echo" });
    expect(event).toMatchObject({
      kind: "message",
      message: { content: [{ kind: "data", data: { echoed: { a: [1, null] } } }] },
    });
  });

  it("transfer members that Agora lacks, beside the body", async () => {
    const remote = await reach(await served(guide));
    const parts: readonly Part[] = [
      { kind: "text", text: "parts" },
      { kind: "raw", bytes: new Uint8Array([0, 255]) },
      { kind: "url", url: "https://files.example/x" },
    ];
    await expect(remote.ask(parts, { metadata: { note: "metadata" } })).resolves.toBe("text,raw,url with metadata");
  });

  it("ask back, in a session and without one", async () => {
    const remote = await reach(await served(guide));
    const question = await remote.send("weather", { session: "s" });
    expect(stateOf(question)).toBe("input-required");
    await expect(remote.ask("Bern", { session: "s" })).resolves.toBe("It is warm in Bern.");
    const again = await remote.send("weather");
    expect(stateOf(again)).toBe("input-required");
    await expect(remote.ask("Biel", { task: taskOf(again).id })).resolves.toBe("It is warm in Biel.");
  });

  it("end a session, after which the question is forgotten", async () => {
    const remote = await reach(await served(guide));
    await remote.send("weather", { session: "s" });
    await remote.handler({ kind: "session.close", sessionId: "s" }, startCall());
    await expect(remote.ask("Bern", { session: "s" })).resolves.toBe("you said: Bern");
  });

  it("report the end of a conversation, and open a new one on the next message", async () => {
    const remote = await reach(await served(guide, { conversationMs: 50 }));
    await remote.ask("hello", { session: "s" });
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect((await errorOf(remote.ask("hello", { session: "s" }))).code).toBe("session_expired");
    await expect(remote.ask("hello", { session: "s" })).resolves.toBe("you said: hello");
  });

  it("give and collect receipts for work that outlives one reply", async () => {
    const remote = await reach(await served(guide, { replyWithinMs: 20 }));
    await expect(remote.ask("slow", { session: "s" })).resolves.toBe("you said: slow");
  });

  it("start, query and cancel a task", async () => {
    const remote = await reach(await served(guide));
    const started = taskOf(await remote.start("hang"));
    expect((await remote.getTask(started.id)).status.state).toMatch(/submitted|working/);
    expect((await remote.cancelTask(started.id)).status.state).toMatch(/cancel/);
    expect((await errorOf(remote.getTask("t-unknown"))).code).toBe("task_not_found");
  });

  it("execute a message once per key", async () => {
    let done = 0;
    const counting = agent({ name: "counter", description: "counts", handle: () => `run ${++done}` });
    const remote = await reach(await served(counting));
    await expect(remote.ask("go", { key: "k-1" })).resolves.toBe("run 1");
    await expect(remote.ask("go", { key: "k-1" })).resolves.toBe("run 1");
    expect((await errorOf(remote.ask("other", { key: "k-1" }))).code).toBe("conflict");
  });

  it("report failed work as a failed task", async () => {
    const remote = await reach(await served(guide));
    const event = await remote.send("fail", { session: "s" });
    expect(stateOf(event)).toBe("failed");
    expect((await errorOf(remote.ask("fail"))).message).toContain("it broke");
  });

  it("refuse anonymous callers, and still discover each other", async () => {
    const admission = bearerTokens(new Map([["me", "a-token-that-is-long-enough"]]));
    const url = await served(guide, {}, { admission });
    const anonymous = await reach(url);
    expect(anonymous.verified).toBe(false);
    expect((await errorOf(anonymous.ask("hello"))).code).toBe("unauthenticated");
    const friend = await reach(url, { credentials: { bearer: "a-token-that-is-long-enough" } });
    await expect(friend.ask("hello")).resolves.toBe("you said: hello");
  });

  it("do not wait longer than the caller, and support cancellation", async () => {
    const url = await served(guide);
    const hurried = await reach(url, { timeoutMs: 100 });
    expect((await errorOf(hurried.ask("hang"))).code).toBe("deadline");
    const remote = await reach(url);
    expect((await errorOf(remote.ask("hang", { signal: AbortSignal.timeout(50) }))).code).toMatch(/deadline|cancelled/);
  });
});

function taskOf(event: AgentEvent): Task {
  if (event.kind !== "task") throw new Error(`a task was expected, not a ${event.kind}`);
  return event.task;
}

function stateOf(event: AgentEvent): string {
  return taskOf(event).status.state;
}

describe("a hostile receiver", () => {
  /** Looks like the library to a probe, and handles messages by the script. */
  async function hostile(listener: RequestListener): Promise<string> {
    const server = createServer((request, response) => {
      if (request.method === "GET") response.writeHead(404).end();
      else if (request.method === "DELETE") response.setHeader("content-type", "application/json").end('{"status":"success"}');
      else listener(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    opened.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  }

  it("that never ends its response is disconnected", async () => {
    let cut: Promise<unknown> = Promise.resolve("never asked");
    const url = await hostile((_request, response) => {
      cut = new Promise((resolve) => response.on("close", () => resolve("cut")));
      response.writeHead(200, { "content-type": "application/json" }).write('{"status":"success","body":"');
      // Stops at a failed write: it is reported before the response is destroyed, and since Node 26 every further one in the same turn.
      const go = (failed?: Error | null): void => void (!failed && !response.destroyed && response.write("x".repeat(10_000), go));
      go();
    });
    const remote = await reach(url, { limits: { ...DEFAULT_LIMITS, bodyBytes: 100_000 } });
    expect((await errorOf(remote.ask("hello"))).code).toMatch(/too_large|bad_peer/);
    await expect(cut).resolves.toBe("cut");
  });

  it("that never answers is abandoned at the time limit", async () => {
    const remote = await reach(await hostile(() => undefined), { timeoutMs: 100 });
    expect((await errorOf(remote.ask("hello"))).code).toBe("deadline");
  });

  it("that redirects is not followed", async () => {
    let followed = 0;
    const elsewhere = await hostile((_request, response) => {
      followed++;
      response.end('{"status":"success","body":"gotcha"}');
    });
    const url = await hostile((_request, response) => void response.writeHead(307, { location: `${elsewhere}/` }).end());
    const remote = await reach(url);
    expect(await errorOf(remote.ask("hello"))).toMatchObject({ code: "bad_peer", message: expect.stringContaining("redirects") });
    expect(followed).toBe(0);
  });

  it("that fails inside a conversation, as the library does, loses only that conversation", async () => {
    const paths: string[] = [];
    const url = await hostile((request, response) => {
      paths.push(request.url?.replace(/c-\d/, "{id}") ?? "");
      if (request.url === "/")
        response.end(JSON.stringify({ status: "success", body: "hi", conversationId: `c-${paths.length}` }));
      else response.writeHead(500, { "content-type": "text/html" }).end("<!doctype html><title>500</title>");
    });
    const remote = await reach(url);
    await expect(remote.ask("one", { session: "s" })).resolves.toBe("hi");
    expect((await errorOf(remote.ask("two", { session: "s" }))).facts.status).toBe(500);
    await expect(remote.ask("three", { session: "s" })).resolves.toBe("hi");
    expect(paths).toEqual(["/", "/conversations/{id}", "/"]);
  });

  it("cannot redirect the client by its conversation id", async () => {
    const paths: string[] = [];
    const url = await hostile((request, response) => {
      paths.push(request.url ?? "");
      response.end(JSON.stringify({ status: "success", body: "hi", conversationId: "../admin?x=1#y" }));
    });
    const remote = await reach(url);
    await remote.ask("one", { session: "s" });
    await remote.ask("two", { session: "s" });
    expect(paths).toEqual(["/", "/conversations/..%2Fadmin%3Fx%3D1%23y"]);
  });
});
