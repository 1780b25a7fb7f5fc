import { createServer } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { configFrom, type Gateway, type GatewayConfig, type GatewayDeps, openGateway } from "../../apps/gateway/index.js";
import { agent, connect, type RemoteAgent, type Server, serve } from "../../src/index.js";
import { textOfAnswer } from "../../src/internal.js";
import { fakeClock } from "../helpers/clock.js";

/** Everything to close, in order. */
const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function upstream(name: string, options: { readonly port?: number; readonly tokens?: boolean } = {}): Promise<Server> {
  const server = await serve(
    agent({ name, description: `the ${name}`, handle: (message) => `${name} heard ${message.text}` }),
    options.port === undefined ? {} : { port: options.port },
  );
  opened.push(() => server.close());
  return server;
}

interface AgentLine {
  readonly name: string;
  readonly upstream?: string;
  readonly [member: string]: unknown;
}

function configOf(agents: readonly AgentLine[], more: object = {}): GatewayConfig {
  return configFrom({ listen: { port: 0 }, agents, ...more }, { folder: "/nowhere", env: {} });
}

async function gatewayOf(config: GatewayConfig, deps: GatewayDeps = {}): Promise<Gateway> {
  const gateway = await openGateway(config, deps);
  opened.push(() => gateway.close());
  return gateway;
}

async function peerAt(url: string, pin?: string): Promise<RemoteAgent> {
  const peer = await connect(url, pin === undefined ? {} : { pin });
  opened.push(() => peer.close());
  return peer;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** The configuration of an agent that served a call; only the gateway still holds it. */
async function replacedAgent(gateway: Gateway, url: string): Promise<WeakRef<object>> {
  const config = configOf([{ name: "worker", upstream: url, timeoutMs: 5_000 }]);
  const [held = {}] = config.agents;
  await gateway.reload(config);
  await (await peerAt(gateway.url)).send("first");
  return new WeakRef(held);
}

/** Waits for a state of the gateway; bounded by the test's timeout. */
function until(gateway: Gateway, isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isSo()) return;
      stop();
      resolve();
    };
    const stop = gateway.console.onChange(look);
    look();
  });
}

describe("a gateway with a new configuration", () => {
  it("continues an open stream while the next call uses the new agent", async () => {
    let goOn: () => void = () => undefined;
    const slow = await serve(
      agent({
        name: "slow",
        description: "takes its time",
        async *handle() {
          yield "first ";
          await new Promise<void>((resolve) => {
            goOn = resolve;
          });
          yield "last";
        },
      }),
    );
    opened.push(() => slow.close());
    const quick = await upstream("quick");
    const gateway = await gatewayOf(configOf([{ name: "worker", upstream: slow.url }]));
    const peer = await peerAt(gateway.url);
    const stream = peer.stream("work")[Symbol.asyncIterator]();
    let text = "";
    while (!text.includes("first")) {
      const step = await stream.next();
      text += JSON.stringify(step.value ?? "ended too soon first");
    }

    const report = await gateway.reload(configOf([{ name: "worker", upstream: quick.url }]));
    expect(report).toMatchObject({ changed: ["worker"], added: [], removed: [], kept: [] });
    expect(textOfAnswer(await (await peerAt(gateway.url)).send("next"))).toBe("quick heard next");

    goOn();
    const rest: string[] = [];
    for (let step = await stream.next(); step.done !== true; step = await stream.next()) rest.push(JSON.stringify(step.value));
    expect(rest.join("")).toContain("last");
    expect(rest.at(-1)).toContain("completed");
  });

  it("releases a replaced agent when its last call has ended", async () => {
    const one = await upstream("one");
    const gateway = await gatewayOf(configOf([{ name: "worker", upstream: one.url }]));
    const replaced = await replacedAgent(gateway, one.url);
    await gateway.reload(configOf([{ name: "worker", upstream: one.url }]));
    expect(textOfAnswer(await (await peerAt(gateway.url)).send("next"))).toBe("one heard next");
    const isReleased = (): boolean => {
      collectGarbage();
      return replaced.deref() === undefined;
    };
    await expect.poll(isReleased, { timeout: 15_000 }).toBe(true);
  });

  it("keeps the connections of unchanged agents, adds and removes others", async () => {
    const [one, two, three] = await Promise.all([upstream("one"), upstream("two"), upstream("three")]);
    const gateway = await gatewayOf(
      configOf([
        { name: "a", upstream: one.url },
        { name: "b", upstream: two.url },
      ]),
    );
    const report = await gateway.reload(
      configOf(
        [
          { name: "a", upstream: one.url },
          { name: "c", upstream: three.url },
        ],
        { metrics: undefined },
      ),
    );
    expect(report).toMatchObject({ kept: ["a"], added: ["c"], removed: ["b"], changed: [] });
    expect(gateway.agents().map(({ name, health }) => `${name} ${health}`)).toEqual(["a up", "c up"]);
    expect(textOfAnswer(await (await peerAt(`${gateway.url}/a2a/c`)).send("hi"))).toBe("three heard hi");
  });

  it("changes the accepted callers without closing the port", async () => {
    const one = await upstream("one");
    const lines = [{ name: "a", upstream: one.url }];
    const gateway = await gatewayOf(configOf(lines));
    const open = await peerAt(gateway.url, "a2a@1.0/JSONRPC");
    expect(textOfAnswer(await open.send("hi"))).toBe("one heard hi");
    const closed = { listen: { port: 0 }, agents: lines, auth: { tokens: { env: "TOKENS" } } };
    await gateway.reload(configFrom(closed, { folder: "/nowhere", env: { TOKENS: "ann=0123456789abcdef" } }));
    await expect(open.send("hi")).rejects.toMatchObject({ code: "unauthenticated" });
  });

  it("rejects changes that require a restart, and keeps running", async () => {
    const one = await upstream("one");
    const lines = [{ name: "a", upstream: one.url }];
    const gateway = await gatewayOf(configOf(lines));
    const other = configOf(lines, { listen: { port: 1, names: ["elsewhere"] }, taskLimits: { runningTasks: 5 } });
    await expect(gateway.reload(other)).rejects.toThrow(
      [
        "listen.port cannot change while the gateway is running: restart the gateway to apply it",
        "listen.names cannot change while the gateway is running: restart the gateway to apply it",
        "taskLimits cannot change while the gateway is running: restart the gateway to apply it",
      ].join("\n"),
    );
    expect(textOfAnswer(await (await peerAt(gateway.url)).send("hi"))).toBe("one heard hi");
  });

  it("rejects itself as an upstream", async () => {
    const one = await upstream("one");
    const gateway = await gatewayOf(configOf([{ name: "a", upstream: one.url }]));
    await expect(gateway.reload(configOf([{ name: "a", upstream: gateway.url }]))).rejects.toMatchObject({ code: "loop" });
    expect(textOfAnswer(await (await peerAt(gateway.url)).send("hi"))).toBe("one heard hi");
  });
});

describe("an upstream that is unreachable at start", () => {
  it("is reported to callers without its address, and served once it is reachable", async () => {
    const port = await freePort();
    const one = await upstream("one");
    const gateway = await gatewayOf(
      configOf([
        { name: "a", upstream: one.url },
        { name: "late", upstream: `http://127.0.0.1:${port}` },
      ]),
    );
    expect(gateway.agents().map(({ name, health }) => `${name} ${health}`)).toEqual(["a up", "late down"]);
    const early = await peerAt(`${gateway.url}/a2a/late`);
    await expect(early.send("hi")).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/Upstream "late" is unreachable \(connection failed, retry in \d+ s\)$/),
    });
    await upstream("late", { port });
    await until(gateway, () => gateway.agents()[1]?.health === "up");
    expect(textOfAnswer(await (await peerAt(`${gateway.url}/a2a/late`)).send("hi"))).toBe("late heard hi");
    expect(gateway.console.state().happenings.map(({ says }) => says)).toContain("is up");
  }, 30_000);

  it("is tried again when a call comes, however long the next attempt is away", async () => {
    const port = await freePort();
    const clock = fakeClock();
    const gateway = await gatewayOf(configOf([{ name: "late", upstream: `http://127.0.0.1:${port}` }]), { clock });
    const caller = await peerAt(`${gateway.url}/a2a/late`);
    const refusal = (): Promise<string> => caller.send("hi").then(textOfAnswer, (thrown: Error) => thrown.message);
    await clock.advance(1_000);
    await expect.poll(refusal).toContain("retry in 2 s"); // The second attempt has failed too.
    await upstream("late", { port });
    await clock.advance(1_000);
    expect(await refusal()).toContain("is unreachable");
    await expect.poll(refusal).toBe("late heard hi");
  });

  it("is an error if every upstream is required", async () => {
    const port = await freePort();
    const config = configOf([{ name: "late", upstream: `http://127.0.0.1:${port}` }]);
    await expect(openGateway(config, { requireUpstreams: true })).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("several upstreams of one agent", () => {
  it("fail over to each other, and each choice is reported", async () => {
    const port = await freePort();
    const two = await upstream("two");
    const gateway = await gatewayOf(
      configOf([
        {
          name: "a",
          upstreams: [
            { id: "x", url: `http://127.0.0.1:${port}` },
            { id: "y", url: two.url },
          ],
          policies: { select: "first-match", breaker: true, bulkhead: true },
        },
      ]),
    );
    expect(textOfAnswer(await (await peerAt(gateway.url)).send("hi"))).toBe("two heard hi");
    const { nodes, breakers, queues, counters } = gateway.console.state();
    expect(nodes.filter(({ kind }) => kind === "agent").map(({ id, health }) => `${id} ${health}`)).toEqual([
      "a/x down",
      "a/y up",
    ]);
    expect(breakers.map(({ destination }) => destination)).toEqual(["a/x", "a/y"]);
    expect(queues.map(({ name }) => name)).toEqual(["a/x", "a/y"]);
    expect(counters["decisions"]).toBeGreaterThan(0);
  });
});

describe("the page of a gateway", () => {
  it("counts messages on both sides, lists tasks, and sends over any listener interface", async () => {
    const one = await upstream("one");
    const gateway = await gatewayOf(configOf([{ name: "a", upstream: one.url, pin: "acp" }]));
    const events: string[] = [];
    const signal = new AbortController().signal;
    const message = { node: "a", way: "a2a@0.3/JSONRPC", text: "from the page", stream: true };
    for await (const event of gateway.console.send?.(message, signal) ?? []) events.push(JSON.stringify(event));
    expect(events.join("")).toContain("one heard from the page");
    await until(gateway, () => gateway.console.state().links.some(({ to, messages }) => to === "a" && messages === 1));
    const { links } = gateway.console.state();
    expect(links.find(({ to }) => to === "a")).toMatchObject({
      fromProtocol: "a2a",
      toProtocol: "acp",
      bridged: true,
      failures: 0,
    });
    const [task] = await gateway.console.tasks(10);
    expect(task).toMatchObject({ agent: "a", state: "completed" });
    expect((await gateway.console.taskEvents(task?.id ?? "")).length).toBeGreaterThan(1);
  });

  it("is served with its token, on a listener of its own", async () => {
    const one = await upstream("one");
    const gateway = await gatewayOf(configOf([{ name: "a", upstream: one.url }]));
    const { url = "", token = "" } = gateway.admin ?? {};
    expect(gateway.pageUrl).toBe(`${url}/koine/#token=${token}`);
    expect(token).toMatch(/^\S{20,}$/);
    const state = await fetch(`${url}/koine/api/state`, { headers: { "x-koine-token": token } });
    expect(state.status).toBe(200);
    expect(await state.json()).toMatchObject({ title: "gateway" });
    expect((await fetch(`${url}/koine/api/state`)).status).toBe(401);
    expect((await fetch(`${gateway.url}/koine/api/state`, { headers: { "x-koine-token": token } })).status).toBe(404);
  });
});
