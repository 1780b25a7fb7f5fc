import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, parseUte, type RemoteAgent, type Server, serve } from "../../src/index.js";
import type { CapturedMessage, Inspector } from "../../src/telemetry/capture/index.js";
import { outcomeOf, koine as run, seen, startKoine as start } from "../cli/koine.js";
import { ADMIN_TOKEN, inspecting, newInspector } from "./served.js";

/** The command line in its own process, against a server of this one. */

let folder: string;
let inspector: Inspector;
let server: Server;
let peer: RemoteAgent;
let other: Server;

const clerk = agent({
  name: "clerk",
  description: "asks back",
  handle(message, task) {
    if (task.turn === 2) return `to ${message.text}`;
    if (message.text === "travel") return task.ask("where to?");
    if (message.text === "fail") return task.fail("no luck");
    return `heard ${message.text}`;
  },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-inspect-"));
  inspector = newInspector();
  server = await serve(clerk, { ...inspecting(inspector) });
  other = await serve(agent({ name: "clerk", description: "deaf", handle: ({ text }) => `never heard ${text}` }));
  peer = await connect(server.url, { discoveryCache: new DiscoveryCache(), pin: "a2a@1.0/JSONRPC" });
});
afterAll(async () => {
  inspector?.close();
  await peer?.close();
  await Promise.all([server?.close(), other?.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** A conversation with a question in between. */
async function converse(): Promise<void> {
  await peer.send("hello");
  const asked = await peer.send("travel");
  await peer.send("Paris", { task: asked.kind === "task" ? asked.task.id : "" });
  await peer.send("fail");
}

/** Servers that need no token ignore it. */
const koine = (args: readonly string[]) => run(args, { KOINE_TOKEN: ADMIN_TOKEN });
const startKoine = (args: readonly string[]) => start(args, { KOINE_TOKEN: ADMIN_TOKEN });
const INSPECT = (): readonly string[] => ["inspect", server.admin?.url ?? ""];

describe("koine inspect", () => {
  test("--once prints the captured messages as blocks, with bytes and envelope on demand", async () => {
    await peer.ask("hello");
    const { code, stdout } = await koine([...INSPECT(), "--once", "--bytes", "--text", "hello"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}clerk {2}send “hello” {2}ok \d+ ms$/m);
    expect(stdout).toMatch(/^ {2}in {2}anonymous → clerk {2}a2a@1\.0\/JSONRPC {2}\d+ B → \d+ B/m);
    expect(stdout).toContain('"method":"SendMessage"');
    expect(stdout).toMatch(/envelope\n\s+\{\n\s+"id": "/);
    expect(stdout).toMatch(/^ {2}trace [0-9a-f]{32}$/m);
  });

  test("--tree draws the trace, and -o json prints a captured message per line", async () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    await peer.ask("traced", { traceparent });
    const only = [...INSPECT(), "--once", "--trace", "4bf92f3577b34da6a3ce929d0e0e4736"];
    const tree = await koine([...only, "--tree"]);
    expect(tree.stdout).toMatch(/^trace 4bf92f3577b34da6a3ce929d0e0e4736\n└─ in {2}anonymous → clerk {2}a2a@1\.0\/JSONRPC/);
    const { stdout } = await koine([...only, "-o", "json"]);
    const [line = "", ...rest] = stdout.trim().split("\n");
    expect(rest).toEqual([]);
    expect(JSON.parse(line) as CapturedMessage).toMatchObject({ text: "traced", parentSpan: "00f067aa0ba902b7", status: "ok" });
  });

  test("follows until Ctrl-C, each exchange once and whole", async () => {
    const child = startKoine([...INSPECT(), "-o", "json", "--text", "live", "--direction", "in"]);
    await expect.poll(() => (inspector.log as unknown as { readers: number }).readers, { timeout: 20_000 }).toBe(1);
    const printed = seen(child.stdout, /live two.*\n/);
    const ended = outcomeOf(child);
    await peer.ask("live one");
    await peer.ask("live two");
    await printed;
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    const shown = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as CapturedMessage);
    expect([code, shown.map(({ text }) => text)]).toEqual([0, ["live one", "live two"]]);
    expect(shown.every(({ response }) => response !== undefined && response.body !== "")).toBe(true);
  });

  test("reports why nothing can be captured: 1, and 3 for an unreachable address", async () => {
    const nothing = await koine(["inspect", other.url, "--once", "-o", "json"]);
    expect(nothing.code).toBe(1);
    expect(JSON.parse(nothing.stderr)).toMatchObject({
      error: { code: "not_found", hint: expect.stringContaining("admin listener") },
    });
    const stranger = await run([...INSPECT(), "--once", "-o", "json"]);
    expect([stranger.code, stranger.stdout]).toEqual([4, ""]);
    expect(JSON.parse(stranger.stderr)).toMatchObject({
      error: { code: "unauthenticated", hint: expect.stringContaining("KOINE_TOKEN") },
    });
    expect((await koine(["inspect", "http://127.0.0.1:9", "--once"])).code).toBe(3);
    expect((await koine(["inspect", "not a url"])).code).toBe(2);
  });
});

describe("koine record and koine replay", () => {
  let file: string;

  test("records messages as UTE lines, appended to the file", async () => {
    file = join(folder, "talk.jsonl");
    await writeFile(file, "");
    const child = startKoine(["record", server.admin?.url ?? "", "--to", file, "--count", "4", "-o", "json"]);
    await expect.poll(() => (inspector.log as unknown as { readers: number }).readers, { timeout: 20_000 }).toBe(1);
    const ended = outcomeOf(child);
    await converse();
    const { code, stdout } = await ended;
    expect([code, JSON.parse(stdout)]).toEqual([0, { file, exchanges: 4, lines: 8 }]);
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    const messages = lines.map(parseUte);
    expect(messages.map(({ role, content }) => [role, content[0]?.kind === "text" ? content[0].text : ""])).toEqual([
      ["user", "hello"],
      ["agent", "heard hello"],
      ["user", "travel"],
      ["agent", "where to?"],
      ["user", "Paris"],
      ["agent", "to Paris"],
      ["user", "fail"],
      ["agent", "no luck"],
    ]);
    const note = { direction: "in", protocol: "a2a@1.0/JSONRPC" };
    expect(messages[0]?.extra).toEqual({ meta: { koine: { kind: "request", ...note } } });
    expect(messages[3]?.extra).toEqual({ meta: { koine: { kind: "answer", ...note, status: "ok", state: "input-required" } } });
    expect(messages[1]?.context.parentId).toBe(messages[0]?.id);
  });

  test("starts a new line after an incomplete one, and ends cleanly after its time", async () => {
    const torn = join(folder, "torn.jsonl");
    await writeFile(torn, '{"id":"half');
    const { code, stderr } = await koine(["record", server.admin?.url ?? "", "--to", torn, "--for", "200ms"]);
    expect([code, await readFile(torn, "utf8")]).toEqual([0, '{"id":"half\n']);
    expect(stderr).toContain("0 exchanges, 0 lines written");
  });

  test.each(["acp", "a2a@0.3/JSONRPC", "agora"])("replays over %s: the same answers, questions and tasks", async (pin) => {
    const { code, stdout, stderr } = await koine(["replay", file, "--to", server.url, "--pin", pin]);
    expect([code, stdout]).toEqual([0, "= hello\n= travel\n= Paris\n= fail\n"]);
    expect(stderr).toMatch(/4 requests sent over .*: 4 answers the same, 0 different/);
  });

  test("against another agent prints the differences and exits with 1, unless --no-diff is given", async () => {
    const differing = await koine(["replay", file, "--to", other.url]);
    expect(differing.code).toBe(1);
    expect(differing.stdout).toContain("≠ hello\n    text\n      - heard hello\n      + never heard hello\n");
    expect(differing.stdout).toContain("    state\n      - input-required\n      + completed\n");
    expect(differing.stderr).toContain("answers differ from the recorded ones");
    expect((await koine(["replay", file, "--to", other.url, "--no-diff"])).code).toBe(0);
    const { stdout } = await koine(["replay", file, "--to", other.url, "-o", "json"]);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { verdict?: string; summary?: object });
    expect(lines.slice(0, 2).map(({ verdict }) => verdict)).toEqual(["different", "different"]);
    // The question was never asked there, so the follow-up is skipped.
    expect(lines.at(-1)?.summary).toMatchObject({ sent: 3, different: 3, skipped: 1 });
  });

  test("does not send what its author signed or sealed: it would arrive without proof, under another id", async () => {
    const recording = join(folder, "protected.jsonl");
    const message = { id: "m-1", ts: 1, src: "ann", dst: "clerk", content: "hello", context: {}, meta: {} };
    const proof = { scheme: "s", signer: "did:x", key_id: "k", signed: "AQ==", signature: "AgM=" };
    const sealed = { raw: "AQ==", media_type: "application/vnd.koine.sealed" };
    const lines = [
      { ...message, proofs: [proof] },
      { ...message, id: "m-2", content: { "urn:koine:parts:1": [sealed] } },
      { ...message, id: "m-3" },
    ];
    await writeFile(recording, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const { code, stdout, stderr } = await koine(["replay", recording, "--to", server.url]);
    expect(stdout).toContain("! hello (skipped: its author signed or sealed it");
    expect(stdout.match(/^! /gm)).toHaveLength(2);
    expect(stderr).toContain("1 requests sent");
    expect(code).toBe(0);
  });

  test("names the line of a file that is not a message", async () => {
    const broken = join(folder, "broken.jsonl");
    await writeFile(broken, await readFile(file));
    await appendFile(broken, "not json\n");
    const { code, stderr } = await koine(["replay", broken, "--to", server.url]);
    expect(code).toBe(2);
    expect(stderr).toContain("line 9: the envelope is not JSON");
  });
});
