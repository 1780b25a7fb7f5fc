import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect as openSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { configFrom, type Gateway, type GatewayDeps, openGateway } from "../../apps/gateway/index.js";
import {
  agent,
  bridge,
  connect,
  DiscoveryCache,
  mount,
  openRedisStore,
  openSqliteStore,
  type Server,
  serve,
} from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import { BreakingProxy } from "../helpers/breaking-proxy.js";
import { fakeClock } from "../helpers/clock.js";
import { redisAvailable, startRedis } from "../redis-server.js";

/** What `/livez`, `/readyz` and `/health` say while parts of a server are gone, and what the operator reads about it. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const withRedis = await redisAvailable();
const OK = [200, { status: "ok" }] as const;
const UNAVAILABLE = [503, { status: "unavailable" }] as const;
/** A gateway pings its upstreams this often, and sooner after a failed ping. */
const PING_EVERY_MS = 5_000;
const CHECK_AGAIN_MS = 1_000;
/** Failed pings in a row that make an upstream unavailable. */
const UNHEALTHY_THRESHOLD = 3;
const NOTICED = { timeout: 15_000, interval: 50 };
const echo = () => agent({ name: "secret-name", description: "d", handle: ({ text }) => text });

async function ask(url: string, headers: Record<string, string> = {}): Promise<readonly [number, unknown]> {
  const response = await fetch(url, { headers });
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("etag")).toBeNull();
  return [response.status, await response.json()];
}

/** The three answers on the callers' port: each is the status and nothing else. */
async function expectHealth(url: string, expected: readonly [number, unknown]): Promise<void> {
  expect(await ask(`${url}/livez`)).toEqual(OK);
  expect(await ask(`${url}/readyz`)).toEqual(expected);
  expect(await ask(`${url}/health`)).toEqual(expected);
  expect((await fetch(`${url}/readyz`, { method: "HEAD" })).status).toBe(expected[0]);
}

function details({ admin }: Pick<Server | Gateway, "admin">): Promise<readonly [number, unknown]> {
  return ask(`${admin?.url}/health`, { "x-koine-token": admin?.token ?? "" });
}

async function opened<T extends { close(): unknown }>(making: Promise<T>): Promise<T> {
  const made = await making;
  closing.push(() => made.close());
  return made;
}

function gatewayOf(agents: readonly object[], more: object = {}, deps: GatewayDeps = {}): Promise<Gateway> {
  const document = { listen: { port: 0 }, agents, admin: {}, limits: { drainMs: 1 }, ...more };
  const config = configFrom(document, { folder: "/nowhere", env: {} });
  return opened(openGateway(config, deps));
}

/** A clock that moves to the next ping only when all upstreams wait for it: it would cut a ping in progress short. */
function pingClock(upstreams: number) {
  const fake = fakeClock();
  const due = new Set<{ readonly atMs: number }>();
  const clock: Clock = {
    ...fake,
    after(ms, run) {
      if (ms !== PING_EVERY_MS && ms !== CHECK_AGAIN_MS) return fake.after(ms, run);
      const check = { atMs: fake.now() + ms };
      due.add(check);
      const cancel = fake.after(ms, () => {
        due.delete(check);
        run();
      });
      return () => {
        due.delete(check);
        cancel();
      };
    },
  };
  const allWait = (): Promise<void> => vi.waitFor(() => expect(due.size).toBe(upstreams), NOTICED);
  /** To the next check of one of them. */
  const nextCheck = async (): Promise<void> => {
    await allWait();
    await fake.advance(Math.min(...[...due].map(({ atMs }) => atMs)) - fake.now());
  };
  /** Until every upstream was checked often enough to be unavailable, if its checks fail. */
  const allPinged = async (): Promise<void> => {
    await allWait();
    const untilMs = fake.now() + PING_EVERY_MS + UNHEALTHY_THRESHOLD * CHECK_AGAIN_MS;
    while (fake.now() < untilMs) await nextCheck();
    await allWait();
  };
  return { clock, allPinged, nextCheck, allWait };
}

describe("the store", () => {
  test.runIf(withRedis)("a killed or frozen Redis is unavailable, and ready again when it is back", async () => {
    const redis = await startRedis();
    closing.push(() => redis.stop());
    const store = await openRedisStore({ url: redis.url });
    closing.push(() => store.close?.());
    const server = await opened(serve(echo(), { store, admin: {}, limits: { drainMs: 1 } }));
    await expectHealth(server.url, OK);

    await redis.kill();
    await expectHealth(server.url, UNAVAILABLE);
    expect(await details(server)).toEqual([
      503,
      expect.objectContaining({
        status: "unavailable",
        draining: false,
        store: expect.objectContaining({ status: "unavailable", problems: ["the task store does not answer"] }),
        agents: [{ name: "secret-name", status: "ok", problems: [] }],
      }),
    ]);

    await redis.restart();
    await vi.waitFor(() => expectHealth(server.url, OK), NOTICED);
    process.kill(redis.pid, "SIGSTOP");
    await expectHealth(server.url, UNAVAILABLE);
    process.kill(redis.pid, "SIGCONT");
    await vi.waitFor(() => expectHealth(server.url, OK), NOTICED);
  });

  test("a store in a file and one in memory are ready", async () => {
    const folder = mkdtempSync(join(tmpdir(), "koine-health-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    const store = await openSqliteStore({ file: join(folder, "tasks.db"), now: Date.now });
    closing.push(() => store.close?.());
    await expectHealth((await opened(serve(echo(), { store }))).url, OK);
    await expectHealth((await opened(serve(echo()))).url, OK);
  });

  test("a store that was closed is unavailable", async () => {
    const folder = mkdtempSync(join(tmpdir(), "koine-health-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    const store = await openSqliteStore({ file: join(folder, "tasks.db"), now: Date.now });
    const server = await opened(serve(echo(), { store, limits: { drainMs: 1 } }));
    await store.close?.();
    await expectHealth(server.url, UNAVAILABLE);
  });
});

describe("the upstreams of a gateway", () => {
  test("each agent needs one; the operator reads which is down, and the log has each change", async () => {
    const folder = mkdtempSync(join(tmpdir(), "koine-health-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    const log = join(folder, "log");
    const said: string[] = [];
    const { clock, allPinged } = pingClock(3);
    const [only, first, second] = [await serve(echo()), await serve(echo()), await serve(echo())];
    closing.push(() => Promise.all([only, first, second].map((each) => each.close())));
    const gateway = await gatewayOf(
      [
        { name: "one", upstream: only.url },
        {
          name: "two",
          upstreams: [
            { id: "a", url: first.url },
            { id: "b", url: second.url },
          ],
        },
      ],
      { log: { file: log } },
      { notify: (line) => said.push(line), clock },
    );
    await expectHealth(gateway.url, OK);

    await first.close();
    await allPinged();
    await vi.waitFor(async () => {
      const [, document] = await details(gateway);
      expect(JSON.stringify(document)).toContain(first.url);
    }, NOTICED);
    await expectHealth(gateway.url, OK);

    await only.close();
    await allPinged();
    await vi.waitFor(() => expectHealth(gateway.url, UNAVAILABLE), NOTICED);
    expect(await details(gateway)).toEqual([
      503,
      expect.objectContaining({
        status: "unavailable",
        agents: [
          { name: "one", status: "unavailable", problems: [expect.stringContaining(only.url)] },
          { name: "two", status: "ok", problems: [expect.stringContaining(first.url)] },
        ],
      }),
    ]);
    expect(said.filter((line) => line.startsWith('Agent "one" is down; '))).toHaveLength(1);

    await opened(serve(echo(), { port: only.port }));
    await allPinged();
    await vi.waitFor(() => expectHealth(gateway.url, OK), NOTICED);
    await gateway.close();
    const lines = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const changes = lines
      .filter(({ event }) => event === "koine.health")
      .map(({ dst_id: id, health, level }) => [id, health, level]);
    expect(changes.filter(([id]) => id === "one")).toEqual([
      ["one", "up", "info"],
      ["one", "down", "warn"],
      ["one", "up", "info"],
    ]);
    expect(changes.filter(([, health]) => health === "down")).toHaveLength(2);
  });

  test("one failed check is no outage, three in a row are, and an answered call ends it", async () => {
    let port = 0;
    const proxy = await BreakingProxy.open(() => `http://127.0.0.1:${port}`);
    closing.push(() => proxy.close());
    port = (await opened(serve(echo(), { publicUrl: proxy.url }))).port;
    const { clock, nextCheck, allWait } = pingClock(1);
    const said: string[] = [];
    const notify = (line: string): void => void said.push(line);
    const gateway = await gatewayOf([{ name: "one", upstream: proxy.url }], {}, { notify, clock });
    const peer = await opened(connect(gateway.url, { discoveryCache: new DiscoveryCache() }));
    const failedCheck = async (): Promise<void> => {
      const before = proxy.broken;
      proxy.breaks = Number.POSITIVE_INFINITY;
      await nextCheck();
      await allWait();
      proxy.breaks = 0;
      expect(proxy.broken).toBeGreaterThan(before);
    };
    await expectHealth(gateway.url, OK);

    for (let check = 1; check < UNHEALTHY_THRESHOLD; check++) await failedCheck();
    await expectHealth(gateway.url, OK);
    await nextCheck(); // answered, so the next failures are counted from the start
    await allWait();
    await failedCheck();
    expect(await peer.ask("x")).toBe("x"); // as an answered call does
    for (let check = 1; check < UNHEALTHY_THRESHOLD; check++) await failedCheck();
    await expectHealth(gateway.url, OK);
    expect(said.filter((line) => line.includes("is down"))).toEqual([]);

    await failedCheck();
    await expectHealth(gateway.url, UNAVAILABLE);
    expect(await peer.ask("x")).toBe("x");
    await expectHealth(gateway.url, OK); // no check since
    expect(said.map((line) => line.split(";")[0])).toEqual(['Agent "one" is down', 'Agent "one" is up']);
  });

  test("one that was never reached is unavailable", async () => {
    const gateway = await gatewayOf([{ name: "one", upstream: "http://127.0.0.1:1" }]);
    await expectHealth(gateway.url, UNAVAILABLE);
  });

  test("one with an open breaker is unavailable until a call may try again", async () => {
    const clock = fakeClock();
    const upstream = await serve(echo());
    const breaker = { minimumCalls: 1, openMs: 1_000 };
    const moody = { name: "moody", upstream: upstream.url, policies: { breaker } };
    const gateway = await gatewayOf([moody], { metrics: true }, { clock });
    const peer = await opened(connect(gateway.url, { discoveryCache: new DiscoveryCache() }));
    await upstream.close();
    await expectHealth(gateway.url, OK); // no ping since
    await expect(peer.ask("x")).rejects.toThrow();
    await expectHealth(gateway.url, UNAVAILABLE);
    expect(gateway.agents()[0]).toMatchObject({ health: "down", problem: expect.stringContaining("circuit breaker is open") });
    const metrics = await fetch(`${gateway.admin?.url}/metrics`, { headers: { "x-koine-token": gateway.admin?.token ?? "" } });
    expect(await metrics.text()).toMatch(/^CIRCUIT_STATE\{[^}]*dst_id="moody"[^}]*protocol="a2a"[^}]*\} 2$/m);
    await clock.advance(1_000);
    await expectHealth(gateway.url, OK);
  });

  test("a bridge asks its upstream for each check", async () => {
    const upstream = await serve(echo());
    const bridged = await bridge(upstream.url, { discoveryCache: new DiscoveryCache() });
    closing.push(() => bridged.close());
    const server = await opened(serve(bridged, { admin: {} }));
    await expectHealth(server.url, OK);
    await upstream.close();
    await expectHealth(server.url, UNAVAILABLE);
    expect(await details(server)).toEqual([
      503,
      expect.objectContaining({
        agents: [{ name: "secret-name", status: "unavailable", problems: [expect.stringContaining(upstream.url)] }],
      }),
    ]);
  });
});

test("a server that stops is alive and not ready, and the operator sees that it drains", async () => {
  let end: () => void = () => undefined;
  let started: () => void = () => undefined;
  const running = new Promise<void>((resolve) => (started = resolve));
  const slow = agent({
    name: "slow",
    description: "d",
    async handle() {
      started();
      await new Promise<void>((resolve) => (end = resolve));
      return "done";
    },
  });
  const server = await serve(slow, { admin: {} });
  const peer = await opened(connect(server.url, { discoveryCache: new DiscoveryCache() }));
  const answer = peer.ask("x");
  await running;
  // Heads that are not complete yet: the connections are not idle when the server stops.
  const probes = await Promise.all(["/readyz", "/health", "/livez"].map((path) => halfAsked(server.port, path)));
  const stopped = server.close();
  expect(await Promise.all(probes.map((finish) => finish()))).toEqual([503, 503, 200]);
  expect(await details(server)).toEqual([503, expect.objectContaining({ status: "unavailable", draining: true })]);
  end();
  expect(await answer).toBe("done");
  await stopped;
});

test("a mounted host leaves the probes to the app around it", async () => {
  const mounted = mount(echo());
  closing.push(() => mounted.close());
  const statusAt = async (path: string): Promise<number> =>
    (await mounted.fetch(new Request(`http://app.example${path}`))).status;
  expect([await statusAt("/health"), await statusAt("/livez"), await statusAt("/readyz")]).toEqual([200, 404, 404]);
});

/** Sends a head without its end. Returns what sends the end and reads the status. */
async function halfAsked(port: number, path: string): Promise<() => Promise<number>> {
  const socket = openSocket(port, "127.0.0.1");
  closing.push(() => socket.destroy());
  await new Promise((resolve) => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`, resolve));
  // The server has read it once it answers a request on a later connection.
  await fetch(`http://127.0.0.1:${port}/livez`);
  return async () => {
    socket.write("\r\n");
    const text = await new Promise<string>((resolve, reject) => {
      socket.once("data", (bytes) => resolve(String(bytes))).once("error", reject);
      socket.once("close", () => reject(new Error("closed without an answer")));
    });
    return Number(text.split(" ")[1]);
  };
}
