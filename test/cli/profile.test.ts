import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeAuthority } from "../certificates.js";
import { createWorkspace, koine, outcomeOf, seen, startKoine, type Workspace } from "./koine.js";

let workspace: Workspace;
let files: { readonly cert: string; readonly key: string; readonly tokens: string };
beforeAll(async () => {
  workspace = await createWorkspace();
  const pair = await (await makeAuthority()).issue({ hosts: ["localhost", "127.0.0.1"] });
  files = {
    cert: await workspace.write("server.pem", pair.cert),
    key: await workspace.write("server.key", pair.key),
    tokens: await workspace.write("tokens", "ann=the-token-of-ann-0123456789\n"),
  };
});
afterAll(() => workspace.clear());

describe("koine serve --profile recommended", () => {
  test("lists everything that is missing, and does not start", async () => {
    const { code, stderr } = await koine([
      "serve",
      workspace.agent,
      "--port",
      "0",
      "--host",
      "0.0.0.0",
      "--profile",
      "recommended",
    ]);
    expect(code).toBe(2);
    for (const line of [
      "TLS for callers beyond this machine: --tls-cert and --tls-key",
      "authentication of callers: none is anonymous, also on loopback: --token-file FILE",
      "an audit log of admitted and refused callers: --audit FILE",
    ])
      expect(stderr).toContain(line);
    expect(stderr).not.toContain("signed cards");
  });

  test("starts with what it requires, warns about the rest, and lowers the limits", async () => {
    const args = ["serve", workspace.agent, "--port", "0", "--profile", "recommended"];
    const secured = ["--tls-cert", files.cert, "--tls-key", files.key, "--token-file", files.tokens];
    const child = startKoine([...args, ...secured, "--audit", workspace.path("audit.log")]);
    const ended = outcomeOf(child);
    await seen(child.stderr, /Press Ctrl-C/);
    child.kill("SIGTERM");
    const { stderr } = await ended;
    expect(stderr).toContain("profile recommended recommends tasks that survive the process: --data DIR or --store URL");
    expect(stderr).toContain("profile recommended recommends signed cards, where a protocol has them: --card-key FILE");
  });
});

describe("koine gateway, profile recommended", () => {
  const CLEAR = "agents:\n  - name: one\n    upstream: http://agents.example\n";

  test("lists everything that is missing, with its place in the file", async () => {
    const file = await workspace.write("koine.yaml", `${CLEAR}listen:\n  host: 0.0.0.0\n  openToEverybody: true\n`);
    const plain = await koine(["gateway", file, "--check"]);
    expect(plain.code).toBe(0);
    const { code, stderr } = await koine(["gateway", file, "--check", "--profile", "recommended"]);
    expect(code).toBe(2);
    for (const line of [
      "koine.yaml:5:3: listen lacks what profile recommended requires, TLS for callers beyond this machine",
      "koine.yaml:6:20: listen.openToEverybody lacks what profile recommended requires, no consent to anonymous callers",
      "koine.yaml:2:3: agents lacks what profile recommended requires, TLS for upstreams beyond this machine",
      "auth lacks what profile recommended requires, authentication of callers",
      "audit lacks what profile recommended requires, an audit log",
    ])
      expect(stderr).toContain(line);
  });

  test("is valid with what it requires, in the file", async () => {
    const text = [
      "profile: recommended",
      "listen: { port: 0, tls: { cert: server.pem, key: server.key } }",
      "auth: { tokens: { file: tokens } }",
      "audit: audit.jsonl",
      "agents: [{ name: one, upstream: https://agents.example }]",
    ];
    const file = await workspace.write("complete.yaml", text.join("\n"));
    const { code, stderr } = await koine(["gateway", file, "--check"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("complete.yaml is valid.")]);
    expect(stderr).toContain("warning: profile recommended recommends tasks that survive the process: set store");
  });
});
