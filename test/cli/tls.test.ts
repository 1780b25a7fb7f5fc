import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { copyFile, readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer, type Server as TlsServer, connect as tlsConnect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Authority, makeAuthority, type Pair } from "../certificates.js";
import { createWorkspace, koine, outcomeOf, type Serving, seen, serving, startKoine, type Workspace } from "./koine.js";

const LOCAL = ["localhost", "127.0.0.1"] as const;
const DAY_MS = 86_400_000;
let workspace: Workspace;
let authority: Authority;
let ca: string;

async function writePair(name: string, { cert, key }: Pair): Promise<void> {
  await Promise.all([workspace.write(`${name}.pem`, cert), workspace.write(`${name}.key`, key)]);
}

function pathsOf(name: string): readonly [cert: string, key: string] {
  return [workspace.path(`${name}.pem`), workspace.path(`${name}.key`)];
}

function underTls(name: string, ...more: readonly string[]): Promise<Serving> {
  const [cert, key] = pathsOf(name);
  return serving([workspace.agent, "--tls-cert", cert, "--tls-key", key, ...more]);
}

beforeAll(async () => {
  workspace = await createWorkspace();
  authority = await makeAuthority();
  ca = await workspace.write("ca.pem", authority.ca);
  await writePair("server", await authority.issue({ hosts: LOCAL }));
  await writePair("renewed", await authority.issue({ hosts: LOCAL }));
  await writePair("elsewhere", await authority.issue({ hosts: ["agent.example"] }));
  await writePair("ann", await authority.issue({ hosts: ["ann.example"], client: true }));
  await writePair("bob", await authority.issue({ hosts: ["bob.example"], client: true }));
});
afterAll(() => workspace.clear());

describe("an agent under TLS", () => {
  let server: Serving;
  beforeAll(async () => {
    server = await underTls("server");
  });
  afterAll(() => server.stop());

  test("is called over every binding with its certificate authority", async () => {
    expect(server.url).toMatch(/^https:/);
    const [json, grpc] = await Promise.all([
      koine(["send", server.url, "a", "--ca", ca]),
      koine(["send", server.url, "b", "--ca", ca, "--protocol", "a2a@1.0/GRPC"]),
    ]);
    expect(json).toEqual({ code: 0, stdout: "wrote a\n", stderr: "" });
    expect(grpc).toEqual({ code: 0, stdout: "wrote b\n", stderr: "" });
  });

  test("is checked over JSON and gRPC with its certificate authority", async () => {
    const checked = await koine([
      "conform",
      server.url,
      "--ca",
      ca,
      "--only",
      "a2a:1.0:grpc:send:shape",
      "--only",
      "a2a:card",
      "-o",
      "json",
    ]);
    const { verdicts } = JSON.parse(checked.stdout) as { verdicts: { id: string; outcome: string }[] };
    const met = new Set(verdicts.filter(({ outcome }) => outcome === "met").map(({ id }) => id));
    expect([met.has("a2a:card:present"), met.has("a2a:1.0:grpc:send:shape")]).toEqual([true, true]);
    expect(await koine(["conform", server.url, "--ca", ca, "--client-id", "x"])).toMatchObject({ code: 2 });
  });

  test("without the authority --ca is suggested, and for http:// an https:// URL", async () => {
    const [untrusted, clear, noCertificate] = await Promise.all([
      koine(["send", server.url, "hi"]),
      koine(["send", server.url.replace("https", "http"), "hi"]),
      koine(["send", server.url, "hi", "--ca", workspace.path("server.key")]),
    ]);
    expect(untrusted.code).toBe(3);
    expect(untrusted.stderr).toMatch(/issued by an unknown authority[\s\S]*hint: .*--ca FILE/);
    expect(clear.code).toBe(1);
    expect(clear.stderr).toMatch(/hint: .*https:\/\//);
    expect(noCertificate.code).toBe(2);
    expect(noCertificate.stderr).toContain("server.key holds no certificate");
  });
});

describe("an invalid certificate", () => {
  test("for another host: the names in the certificate are listed", async () => {
    const server = await underTls("elsewhere");
    const { code, stderr } = await koine(["send", server.url, "hi", "--ca", ca]);
    await server.stop();
    expect(code).toBe(3);
    expect(stderr).toMatch(/is for agent\.example, not for 127\.0\.0\.1.*\n.*by a name listed in its certificate/);
  });

  test("expired: not served, and reported to callers", async () => {
    const times = { notBefore: new Date(Date.now() - 9 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) };
    const old = await authority.issue({ hosts: LOCAL, ...times });
    await writePair("old", old);
    const [cert, key] = pathsOf("old");
    const refused = await koine(["serve", workspace.agent, "--port", "0", "--tls-cert", cert, "--tls-key", key]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("the certificate expired at");

    const elsewhere: TlsServer = createServer(old).listen(0, "127.0.0.1");
    await once(elsewhere, "listening");
    const { port } = elsewhere.address() as AddressInfo; // a TCP server has one
    const met = await koine(["send", `https://127.0.0.1:${port}`, "hi", "--ca", ca]);
    elsewhere.close();
    expect(met.code).toBe(3);
    expect(met.stderr).toMatch(/has expired.*\nhint: .*renew/);
  });

  test("https to a plaintext port: http:// is suggested", async () => {
    const server = await serving([workspace.agent]);
    const { code, stderr } = await koine(["send", server.url.replace("http", "https"), "hi"]);
    await server.stop();
    expect(code).toBe(3);
    expect(stderr).toMatch(/does not speak TLS[\s\S]*hint: Write http:\/\//);
  });
});

test("a renewed certificate is loaded on SIGHUP while a stream continues; an invalid one is rejected", async () => {
  const [cert, key] = pathsOf("live");
  await Promise.all([copyFile(workspace.path("server.pem"), cert), copyFile(workspace.path("server.key"), key)]);
  const server = await underTls("live");
  const sender = startKoine(["send", server.url, "gate", "--stream", "--ca", ca]);
  sender.stdin?.end();
  const ended = outcomeOf(sender);
  await seen(sender.stdout, /before/);

  await Promise.all([copyFile(workspace.path("renewed.pem"), cert), copyFile(workspace.path("renewed.key"), key)]);
  const renewed = seen(server.child.stderr, /Certificate reloaded/);
  server.child.kill("SIGHUP");
  await renewed;
  expect(await serialAt(server.port)).toBe(new X509Certificate(await readFile(workspace.path("renewed.pem"))).serialNumber);

  await copyFile(workspace.path("ann.key"), key);
  const kept = seen(server.child.stderr, /still using the previous certificate: .*does not match the certificate/);
  server.child.kill("SIGHUP");
  await kept;

  await workspace.openGate();
  expect(await ended).toEqual({ code: 0, stdout: "before behind\n", stderr: "" });
  await server.stop();
});

describe("callers with certificates", () => {
  let server: Serving;
  const as = (name: string): readonly string[] => {
    const [cert, key] = pathsOf(name);
    return ["--ca", ca, "--cert", cert, "--key", key];
  };
  beforeAll(async () => {
    server = await underTls("server", "--client-ca", ca);
  });
  afterAll(() => server.stop());

  test("are identified by them, and own their tasks", async () => {
    const who = await koine(["send", server.url, "who", ...as("ann")]);
    expect(who).toEqual({ code: 0, stdout: "mtls:ann.example\n", stderr: "" });
    const started = await koine(["send", server.url, "x", "--no-wait", ...as("ann")]);
    const id = started.stdout.trim();
    const [hers, his] = await Promise.all([
      koine(["task", "get", server.url, id, "-o", "json", ...as("ann")]),
      koine(["task", "get", server.url, id, ...as("bob")]),
    ]);
    expect(JSON.parse(hers.stdout)).toMatchObject({ kind: "task", task: { id } });
    expect(his.code).toBe(1);
    expect(his.stderr).toContain("task not found");
  });

  test("no certificate exits with 4 and names the options; a wrong key exits with 2", async () => {
    const [none, mixed] = await Promise.all([
      koine(["send", server.url, "hi", "--ca", ca]),
      koine(["send", server.url, "hi", "--ca", ca, "--cert", workspace.path("ann.pem"), "--key", workspace.path("bob.key")]),
    ]);
    expect(none.code).toBe(4);
    expect(none.stderr).toContain("hint: To show it, give --cert and --key.");
    expect(mixed.code).toBe(2);
    expect(mixed.stderr).toContain("does not match the certificate");
  });
});

describe("revocation lists", () => {
  const as = (name: string): readonly string[] => {
    const [cert, key] = pathsOf(name);
    return ["--ca", ca, "--cert", cert, "--key", key];
  };

  test("--client-crl refuses revoked callers, and is reloaded with the certificate", async () => {
    const pairOf = async (name: string): Promise<Pair> => ({
      cert: await readFile(workspace.path(`${name}.pem`), "utf8"),
      key: "",
    });
    const crl = await workspace.write("clients.crl", await authority.crl([]));
    const server = await underTls("server", "--client-ca", ca, "--client-crl", crl);
    expect(await koine(["send", server.url, "who", ...as("bob")])).toMatchObject({ code: 0, stdout: "mtls:bob.example\n" });
    await workspace.write("clients.crl", await authority.crl([await pairOf("bob")]));
    const reloaded = seen(server.child.stderr, /Certificate reloaded/);
    server.child.kill("SIGHUP");
    await reloaded;
    const [his, hers] = await Promise.all([
      koine(["send", server.url, "who", ...as("bob")]),
      koine(["send", server.url, "who", ...as("ann")]),
    ]);
    await server.stop();
    expect(his.code).toBe(4);
    expect(his.stderr).toContain("the client certificate is revoked");
    expect(hers).toMatchObject({ code: 0, stdout: "mtls:ann.example\n" });
  });

  test("--crl refuses a revoked server", async () => {
    const server = await underTls("server");
    const cert = await readFile(workspace.path("server.pem"), "utf8");
    const revoked = await workspace.write("servers.crl", await authority.crl([{ cert, key: "" }]));
    const current = await workspace.write("current.crl", await authority.crl([]));
    const [refused, accepted, none] = await Promise.all([
      koine(["send", server.url, "hi", "--ca", ca, "--crl", revoked]),
      koine(["send", server.url, "hi", "--ca", ca, "--crl", current]),
      koine(["send", server.url, "hi", "--ca", ca, "--crl", ca]),
    ]);
    await server.stop();
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("is revoked (CERT_REVOKED)");
    expect(accepted).toMatchObject({ code: 0, stdout: "wrote hi\n" });
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("holds no revocation list");
  });
});

async function serialAt(port: number): Promise<string> {
  const socket = tlsConnect({ port, host: "127.0.0.1", ca: authority.ca });
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}
