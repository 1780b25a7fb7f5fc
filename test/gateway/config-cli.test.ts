import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, connect, type Server, serve } from "../../src/index.js";
import { textOfAnswer } from "../../src/internal.js";
import { protocols } from "../../src/public/protocols.js";
import { koine, outcomeOf, seen, startKoine } from "../cli/koine.js";
import { openProtocols } from "../helpers/open-protocols.js";

const PROCESS_MS = 60_000;

let folder = "";
let upstream: Server;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-gateway-"));
  upstream = await serve(agent({ name: "echo", description: "says it back", handle: (message) => `heard ${message.text}` }));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  }
  await upstream.close();
  await rm(folder, { recursive: true, force: true });
});

function started(args: readonly string[], env: { readonly [name: string]: string } = {}): ChildProcess {
  const child = startKoine(args, env);
  children.push(child);
  return child;
}

async function written(text: string, name = "koine.yaml"): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

/** The first line of a gateway that was asked for JSON. */
async function gatewayLine(child: ChildProcess): Promise<{ readonly url: string }> {
  const line = await seen(child.stdout, /^\{"kind":"gateway".*\n/m);
  return JSON.parse(line) as { readonly url: string }; // our own output
}

describe("koine gateway", () => {
  it("exits with 2 for an invalid file, and reports every problem without secrets", { timeout: PROCESS_MS }, async () => {
    const secret = "0123456789abcdef-secret";
    const file = await written(
      `listen: { port: "\${PORT}" }\nsecrt: \${SECRET}\nagents:\n  - name: one\n    upstream: \${SECRET}\n`,
    );
    const { code, stdout, stderr } = await koine(["gateway", file], { PORT: "0", SECRET: secret });
    expect(code).toBe(2);
    expect(stderr).toContain(`${file}:2:1: secrt is unknown; did you mean secret?`);
    expect(stderr).toContain(`${file}:5:15: agents[0].upstream must be an http or https URL`);
    expect(stdout + stderr).not.toContain(secret);
  });

  it("checks a file, and connects to its agents with --connect", { timeout: PROCESS_MS }, async () => {
    const file = await written(
      `agents:\n  - name: one\n    upstream: ${upstream.url}\n  - name: gone\n    upstream: http://127.0.0.1:9\n`,
    );
    const checked = await koine(["gateway", file, "--check"]);
    expect([checked.code, checked.stderr]).toEqual([0, `${file} is valid.\n`]);
    const asked = await koine(["gateway", file, "--check", "--connect", "-o", "json"]);
    expect(asked.code).toBe(3);
    expect(JSON.parse(asked.stdout)).toMatchObject({
      upstreams: [
        { agent: "one", speaks: "a2a@1.0/JSONRPC" },
        { agent: "gone", speaks: null },
      ],
    });
  });

  it("reports that its port is in use", { timeout: PROCESS_MS }, async () => {
    const other = await serve(agent({ name: "other", description: "is there first", handle: () => "x" }));
    const file = await written(`listen: { port: ${other.port} }\nagents:\n  - name: one\n    upstream: ${upstream.url}\n`);
    const { code, stderr } = await koine(["gateway", file]);
    await other.close();
    expect([code, stderr.split("\n")[0]]).toEqual([1, `error: port ${other.port} of 127.0.0.1 is in use`]);
  });

  it("reloads a changed file, rejects an invalid one, and reports losses at the end", {
    timeout: PROCESS_MS,
  }, async () => {
    const lines = `listen: { port: 0 }\nagents:\n  - name: one\n    upstream: ${upstream.url}\n`;
    const file = await written(lines);
    const child = started(["gateway", file, "-o", "json"]);
    const ended = outcomeOf(child);
    const { url } = await gatewayLine(child);
    const added = seen(child.stdout, /"kind":"reloaded","added":\["two"\]/);
    await writeFile(file, `${lines}  - name: two\n    upstream: ${upstream.url}\n`);
    await added;
    const peer = await connect(`${url}/a2a/two`);
    expect(textOfAnswer(await peer.send("hi"))).toBe("heard hi");
    await peer.close();
    const refused = seen(child.stderr, /reload_refused.*koine\.yaml:5:1: agnets is unknown; did you mean agents\?/);
    await writeFile(file, `${lines}agnets: []\n`);
    await refused;
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({
      kind: "losses",
      agents: [
        { agent: "one", messages: 0, losses: [] },
        { agent: "two", messages: 1, losses: [] },
      ],
    });
  });
});

describe("koine bridge", () => {
  const pins = openProtocols.flatMap(({ id, versions }) => versions.map((version) => `${id}@${version}`));

  it.each(pins)("serves an agent that speaks %s to callers of every protocol", { timeout: PROCESS_MS }, async (upstreamPin) => {
    const child = started(["bridge", upstream.url, "--pin", upstreamPin, "--port", "0", "-o", "json"]);
    const ended = outcomeOf(child);
    const { url } = await gatewayLine(child);
    const answers: string[] = [];
    for (const pin of pins) {
      const peer = await connect(url, { pin });
      answers.push(`${pin} ${textOfAnswer(await peer.send("hi"))}`);
      await peer.close();
    }
    expect(answers).toEqual(pins.map((pin) => `${pin} heard hi`));
    child.kill("SIGINT");
    expect((await ended).code).toBe(0);
  });

  it("serves only the selected protocols", { timeout: PROCESS_MS }, async () => {
    const child = started(["bridge", upstream.url, "--as", "acp", "--port", "0", "-o", "json"]);
    const { url } = await gatewayLine(child);
    const peer = await connect(url);
    expect(peer.interfaces.map(({ protocol }) => protocol)).toEqual(["acp"]);
    await peer.close();
    const wrong = await koine(["bridge", upstream.url, "--as", "a2a@7"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, "error: as[0] names unknown version 7 of a2a; available: 1.0, 0.3, plain\n"]);
  });

  it("takes the settings of protocols, lists them, and refuses unknown ones", { timeout: PROCESS_MS }, async () => {
    const child = started(["bridge", upstream.url, "--set", "a2a.cardForm=0.3", "--port", "0", "-o", "json"]);
    const { url } = await gatewayLine(child);
    const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as object;
    expect(["supportedInterfaces" in card, "preferredTransport" in card]).toEqual([false, true]);
    const [wrong, help] = await Promise.all([
      koine(["bridge", upstream.url, "--set", "a2a.cardForm=2.0"]),
      koine(["bridge", "--help"]),
    ]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("a2a.cardForm must be one of auto, both, 1.0, 0.3")]);
    expect(help.stdout).toContain("a2a.cardForm=");
  });

  it("prints the declared losses of each wire and exits", { timeout: PROCESS_MS }, async () => {
    const { code, stdout } = await koine(["bridge", upstream.url, "--losses", "--pin", "acp", "--as", "a2a@0.3", "-o", "json"]);
    const declared = protocols.flatMap(({ id, losses }) =>
      losses
        .filter(({ version }) => (id === "acp" && version === "0.2") || (id === "a2a" && version === "0.3"))
        .map(({ path }) => path),
    );
    const document = JSON.parse(stdout) as { readonly losses: readonly { readonly path: string }[] }; // our own output
    expect(code).toBe(0);
    expect(document.losses.map(({ path }) => path).toSorted()).toEqual(declared.toSorted());
  });
});

describe("the published schema and the reference", () => {
  it("match the code", async () => {
    const { configJsonSchema, configReference } = await import("../../apps/gateway/index.js");
    expect(JSON.parse(await readFile("docs/koine.schema.json", "utf8"))).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
    expect(await readFile("docs/gateway.md", "utf8")).toContain(configReference());
  });
});
