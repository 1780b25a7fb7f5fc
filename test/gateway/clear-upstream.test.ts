import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { makeAuthority } from "../certificates.js";
import { exited } from "../child-process.js";
import { outcomeOf, seen } from "../cli/koine.js";
import { namespacesAvailable, type TwoHosts, twoHosts } from "../helpers/network-namespaces.js";
import { KOINE } from "../programs.js";

const MS = 120_000;
const PRIVATE = { near: "10.231.7.1/24", far: "10.231.7.2/24" };
/** Nobody else's: it exists only within the namespaces, which are connected to nothing. */
const PUBLIC = { near: "192.0.3.1/24", far: "192.0.3.2/24" };
const UPSTREAM_PORT = 9000;

const here = namespacesAvailable();

describe.skipIf(!here)("a TLS gateway and an upstream without TLS on another host", () => {
  let hosts: TwoHosts;
  let folder = "";
  const children: ChildProcess[] = [];

  /** Runs `koine` on one of the hosts. */
  function on(host: string, args: readonly string[], env: { readonly [name: string]: string } = {}): ChildProcess {
    const child = spawn("ip", ["netns", "exec", host, process.execPath, ...KOINE, ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], ...env },
      stdio: "pipe",
    });
    children.push(child);
    return child;
  }

  beforeAll(async () => {
    hosts = twoHosts(`koine-${process.pid}`, [PRIVATE, PUBLIC]);
    folder = await mkdtemp(join(tmpdir(), "koine-clear-"));
    const authority = await makeAuthority();
    const pair = await authority.issue({ hosts: ["127.0.0.1"] });
    await Promise.all([
      writeFile(join(folder, "cert.pem"), pair.cert),
      writeFile(join(folder, "key.pem"), pair.key, { mode: 0o600 }),
      writeFile(join(folder, "ca.pem"), authority.ca),
      writeFile(join(folder, "echo.mjs"), 'export const handle = ({ text }) => "heard " + text;\n'),
    ]);
    const serve = [
      "serve",
      "echo.mjs",
      "--host",
      "0.0.0.0",
      "--port",
      String(UPSTREAM_PORT),
      "--open-to-everybody",
      "-o",
      "json",
    ];
    const names = [PRIVATE, PUBLIC].flatMap(({ far }) => ["--name", far.split("/")[0] ?? ""]);
    await seen(on(hosts.far, [...serve, ...names]).stdout, /"kind":"serving"/);
  }, MS);

  afterEach(async () => {
    for (const child of children.splice(1)) {
      child.kill("SIGTERM");
      await exited(child);
    }
  });

  afterAll(async () => {
    for (const child of children.splice(0)) {
      child.kill("SIGKILL");
      await exited(child);
    }
    hosts?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts a gateway on the near host, sends one message to it over TLS, and returns what happened. */
  async function sendThrough({ far }: typeof PRIVATE, more = "") {
    const [address] = far.split("/", 1);
    const text = `listen: { port: 8443, tls: { cert: cert.pem, key: key.pem } }
audit: audit.log
agents:
  - { name: echo, upstream: "http://${address}:${UPSTREAM_PORT}" }
${more}`;
    await writeFile(join(folder, "koine.yaml"), text);
    await rm(join(folder, "audit.log"), { force: true });
    const check = await outcomeOf(on(hosts.near, ["gateway", "koine.yaml", "--check"]));
    const gateway = on(hosts.near, ["gateway", "koine.yaml", "-o", "json"]);
    const started = await seen(gateway.stdout, /^\{"kind":"gateway".*\n/m);
    const sent = await outcomeOf(on(hosts.near, ["send", "https://127.0.0.1:8443", "hi", "--ca", "ca.pem", "-o", "json"]));
    gateway.kill("SIGTERM");
    await exited(gateway);
    return { check, started, sent, audit: await readFile(join(folder, "audit.log"), "utf8") };
  }

  it("passes calls to a private address that was configured, and says so", { timeout: MS }, async () => {
    const { check, started, sent, audit } = await sendThrough(PRIVATE);
    expect(sent.stdout).toContain("heard hi");
    expect(started).toContain("gets calls without encryption");
    expect([check.code, check.stderr]).toEqual([0, expect.stringContaining("gets calls without encryption")]);
    expect(audit).toContain('"event":"downgrade"');
  });

  it.each([
    ["a public address", PUBLIC, ""],
    ["a private address if only this host is allowed", PRIVATE, "clearText: loopback\n"],
    ["a private address if more is required", PRIVATE, "defaults: { require: [encrypted] }\n"],
  ])("refuses calls to %s", { timeout: MS }, async (_, wire, more) => {
    const { check, sent, audit } = await sendThrough(wire, more);
    expect(sent.stdout + sent.stderr).toContain("the call must be encrypted");
    expect(sent.stdout).not.toContain("heard");
    expect(check.code).toBe(1);
    expect(audit).toContain('"code":"downgrade_refused"');
  });

  it("passes calls to a public address while an opening holds", { timeout: MS }, async () => {
    const opening = "{ upstream: echo, lowers: [encrypted], reason: no certificate yet, until: 2099-12-31 }";
    const { check, sent } = await sendThrough(PUBLIC, `openings: [${opening}]\n`);
    expect(sent.stdout).toContain("heard hi");
    expect([check.code, check.stderr]).toEqual([0, expect.stringContaining("opened until 2099-12-31: no certificate yet")]);
  });
});
