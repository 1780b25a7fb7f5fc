import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, DiscoveryCache, type RemoteAgent } from "../../src/index.js";
import { makeAuthority } from "../certificates.js";
import { createWorkspace, seen, serving, startKoine } from "../cli/koine.js";

/** The metrics that a running gateway prints after real traffic, against those in docs/telemetry.md and in the seeds. */

const ADMIN_TOKEN = "admin-token-0123456789";
/** G.1 and E.2.3 of the paper, and its router's observability. */
const SEEDS = [
  "REQUEST_LATENCY",
  "REQUEST_FAILURES",
  "MSG_BYTES",
  "MSG_BYTES_PAYLOAD",
  "MSG_BYTES_RETRY_OVERHEAD",
  "ROUTER_DECISIONS",
  "HEDGE_FIRES",
  "CIRCUIT_STATE",
  "QUEUE_DEPTH",
];

/** Of relays of sealed sessions, of protocols that refuse callers themselves, and of sealed stores of `koine serve`. */
const ELSEWHERE = ["CALLERS_REFUSED", "RELAYED_BYTES", "RELAYED_MESSAGES", "STORED_CONTENT_REFUSED"];

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

let scrape = "";
let documented: readonly string[] = [];
let documentedOpen: readonly string[] = [];

beforeAll(async () => {
  const page = await readFile("docs/telemetry.md", "utf8");
  documented = [...page.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)*) \|/gm)]
    .flatMap(([, names = ""]) => names.split(", "))
    .map((name) => name.replaceAll("`", ""))
    .filter((name) => !name.startsWith("OTEL_"));
  documentedOpen = [...new Set([...page.matchAll(/`(koine_[a-z_]+)`/g)].map(([, name = ""]) => name))];
  scrape = await scrapedGateway();
}, 120_000);

/** A gateway under TLS with policies, tracing and two upstreams, one of which answers late, after calls and a session. */
async function scrapedGateway(): Promise<string> {
  const workspace = await createWorkspace();
  closing.push(() => workspace.clear());
  const module = await workspace.write("agent.mjs", "export const handle = ({ text }) => text;");
  const upstream = await serving([module]);
  closing.push(() => upstream.stop());
  const authority = await makeAuthority();
  const pair = await authority.issue({ hosts: ["127.0.0.1", "localhost"] });
  await Promise.all([
    workspace.write("cert.pem", pair.cert),
    workspace.write("key.pem", pair.key),
    workspace.write("admin-token", ADMIN_TOKEN),
  ]);
  const policies = { retry: true, breaker: true, bulkhead: true, hedge: { afterMs: 1 } };
  const config = {
    listen: { port: 0, tls: { cert: "cert.pem", key: "key.pem" } },
    admin: { port: 0, token: { file: "admin-token" } },
    metrics: true,
    metricNames: "both",
    tracing: { endpoint: "http://127.0.0.1:1" },
    agents: [
      { name: "one", upstream: upstream.url, policies },
      {
        name: "two",
        upstreams: [
          { id: "a", url: upstream.url },
          { id: "b", url: upstream.url },
        ],
        policies: { ...policies, select: "weighted" },
      },
    ],
  };
  const file = await workspace.write("koine.json", JSON.stringify(config));
  const child = startKoine(["gateway", file, "--require-upstreams", "-o", "json"]);
  closing.push(() => child.kill("SIGKILL"));
  const started = JSON.parse(await seen(child.stdout, /^\{.*\}$/m)) as Started; // the output of the command
  const connected = async (url: string, pin: string): Promise<RemoteAgent> => {
    const credentials = { tls: { ca: authority.ca } };
    const peer = await connect(url, { pin, discoveryCache: new DiscoveryCache(), credentials });
    closing.push(() => peer.close());
    return peer;
  };
  for (const { url, protocol } of started.agents.flatMap(({ interfaces }) => interfaces))
    if (/^https?:/.test(url)) expect(await (await connected(url, protocol)).ask("hi")).toBe("hi");
  const session = await connected(`wss://127.0.0.1:${started.port}/ws`, "anp@plain/WS");
  expect(await session.ask("hi")).toBe("hi");
  await session.close();
  // A call over TLS may not be pushed in clear text. Nothing is sent there.
  const push = { taskId: "", id: "hook", url: "http://8.8.8.8/" };
  const direct = await connected(started.agents[0]?.interfaces[0]?.url ?? "", "a2a");
  await expect(direct.send("hi", { push })).rejects.toMatchObject({ code: "downgrade_refused" });
  const response = await fetch(`${started.admin}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  expect(response.status).toBe(200);
  return response.text();
}

interface Started {
  readonly port: number;
  readonly admin: string;
  readonly agents: readonly { readonly interfaces: readonly { readonly url: string; readonly protocol: string }[] }[];
}

/** Metric families by their TYPE lines. */
const families = (pattern: RegExp): readonly string[] =>
  [...scrape.matchAll(/^# TYPE (\S+) \w+$/gm)].map(([, name = ""]) => name).filter((name) => pattern.test(name));

test("every documented metric is printed, and every printed one is documented", () => {
  expect(documented.length).toBeGreaterThan(SEEDS.length);
  expect([...families(/^[A-Z_]+$/), ...ELSEWHERE].sort()).toEqual([...documented].sort());
});

test("the names of the seeds are among them", () => {
  for (const name of SEEDS) expect(documented).toContain(name);
});

test("each has its OpenMetrics name beside it, and the documented ones exist", () => {
  const open = families(/^koine_/);
  expect(open).toHaveLength(families(/^[A-Z_]+$/).length);
  for (const name of documentedOpen) expect(open).toContain(name);
});

test("what traffic makes has samples of it", () => {
  for (const name of ["REQUEST_LATENCY_count", "MSG_BYTES", "MSG_BYTES_PAYLOAD", "MSG_BYTES_RETRY_OVERHEAD", "ROUTER_DECISIONS"])
    expect(scrape).toMatch(new RegExp(`^${name}\\{[^}]*\\} [1-9]`, "m"));
});
