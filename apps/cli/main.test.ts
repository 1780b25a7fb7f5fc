import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server as NetServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, connect, type Server, serve } from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";
import { outcomeOf, koine as run, startKoine as start } from "../../test/cli/koine.js";
import type { Environment, Outcome } from "../../test/cli/warm-koine.js";
import { KOINE } from "../../test/programs.js";

/** The real command line, as a process of its own, against servers of this one. */

const TOKEN = "a-token-for-ann-0123456789";
let folder: string;
let open: Server;
let closed: Server;
let silent: NetServer;
let silentUrl: string;

let release: () => void = () => undefined;
const released = new Promise<void>((resolve) => {
  release = resolve;
});

const parrot = agent({
  name: "parrot",
  description: "Does what the tests ask",
  async *handle(message, task) {
    const [word, count = "3"] = message.text.split(" ");
    if (task.turn === 2) return `you answered ${message.text}`;
    if (word === "ask") return task.ask("which city?");
    if (word === "fail") return task.fail("no luck today");
    if (word === "stream") {
      for (let index = 1; index <= Number(count); index++) yield `${index} `;
      return undefined;
    }
    if (word === "slow") {
      yield task.working("climbing the mountain");
      await new Promise((resolve) => task.signal.addEventListener("abort", resolve, { once: true }));
    }
    if (word === "hold") {
      yield task.working("holding");
      await released;
      return "let go";
    }
    if (word === "nap") {
      yield task.working("sleeping");
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    }
    if (word === "file") {
      const bytes = new TextEncoder().encode("bytes of the file");
      yield task.artifact([{ kind: "raw", bytes, name: "../../evil.txt", mediaType: "text/plain" }], { last: true });
      return undefined;
    }
    const attached = message.content.map((part) =>
      part.kind === "raw" ? `${part.name} ${part.mediaType} ${part.bytes.length}` : part.kind,
    );
    return `heard ${message.text}; ${attached.join(", ")}`;
  },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-cli-"));
  open = await serve(parrot);
  closed = await serve(agent({ name: "guarded", description: "For Ann", handle: () => "come in" }), {
    admission: bearerTokens(new Map([["ann", TOKEN]])),
  });
  silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = silent.address();
  silentUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
});
afterAll(async () => {
  silent.close();
  await Promise.all([open.close(), closed.close()]);
  await rm(folder, { recursive: true });
}, 30_000);

async function koine(args: readonly string[], { env = {}, stdin }: { env?: Environment; stdin?: string } = {}): Promise<Outcome> {
  if (stdin === undefined) return run(args, env);
  const child = start(args, env);
  child.stdin?.end(stdin);
  return outcomeOf(child);
}

/** Resolves when the child has written something that matches. */
function seen(stream: NodeJS.ReadableStream | null, pattern: RegExp): Promise<RegExpExecArray> {
  let text = "";
  return new Promise((resolve, reject) => {
    stream?.on("data", (chunk) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match !== null) resolve(match);
    });
    stream?.on("close", () => reject(new Error(`closed without ${pattern}: ${text}`)));
  });
}

describe("exit codes and errors", () => {
  test("an unknown option is a usage error with a suggestion, and nothing is on stdout", async () => {
    const { code, stdout, stderr } = await koine(["send", open.url, "hi", "--strem"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      "error: unknown option '--strem'\nhint: Did you mean --stream? koine send --help shows how it is used.\n",
    );
  });

  test("an unknown command with -o json is an error object", async () => {
    const { code, stdout, stderr } = await koine(["sned", open.url, "-o", "json"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: { code: "usage", message: "unknown command 'sned'", hint: "Did you mean send? koine --help shows how it is used." },
    });
  });

  test("an unreachable address exits with 3", async () => {
    const { code, stdout, stderr } = await koine(["send", "http://127.0.0.1:9", "hi", "-o", "json"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "unavailable", face: "E_CONN", hint: "Is the agent running, and is the address right?" },
    });
  });

  test("missing or wrong credentials exit with 4, and the token is never printed", async () => {
    const missing = await koine(["send", closed.url, "hi"]);
    expect(missing.code).toBe(4);
    expect(missing.stderr).toContain("KOINE_TOKEN");
    const wrong = await koine(["send", closed.url, "hi", "-v"], {
      env: { KOINE_TOKEN: "wrong-token-0123456789" },
    });
    expect(wrong.code).toBe(4);
    expect(wrong.stdout + wrong.stderr).not.toContain("wrong-token");
  });

  test("a timeout exits with 5", async () => {
    const { code, stderr } = await koine(["send", silentUrl, "hi", "--timeout", "0.5"]);
    expect(code).toBe(5);
    expect(stderr).toContain("--timeout");
  });

  test("the version goes to stdout, with exit code 0", async () => {
    const version = await koine(["--version"]);
    const { version: current } = JSON.parse(await readFile("package.json", "utf8")) as { readonly version: string };
    expect(version).toEqual({ code: 0, stdout: `${current}\n`, stderr: "" });
  });
});

describe("send", () => {
  test("text from a pipe, a token from the environment, and nothing but the answer on stdout", async () => {
    const env = { MY_TOKEN: TOKEN, KOINE_TOKEN_ENV: "MY_TOKEN" };
    expect(await koine(["send", closed.url], { stdin: "hello\n", env })).toEqual({ code: 0, stdout: "come in\n", stderr: "" });
  });

  test("a file and data are sent beside the text, and -v prints the evidence on stderr", async () => {
    const path = join(folder, "notes.md");
    await writeFile(path, "# notes");
    const { code, stdout, stderr } = await koine(["send", open.url, "look", "--file", path, "--data", '{"a":1}', "-v"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "heard look; text, notes.md text/markdown 7, data\n" });
    expect(stderr).toContain("verified by a live answer");
  });

  test("a message as JSON is a UTE document with its text beside it", async () => {
    const { stdout } = await koine(["send", open.url, "-", "-o", "json", "--session", "s-1"], { stdin: "hello" });
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "message",
      text: "heard hello; text",
      message: { src: "parrot", content: { text: "heard hello; text" }, context: { session_id: "s-1" }, role: "agent" },
    });
  });

  test("streamed text runs on; streamed JSON is one event per line, each with its cursor", async () => {
    const text = await koine(["send", open.url, "stream 3", "--stream"]);
    expect(text).toEqual({ code: 0, stdout: "1 2 3 \n", stderr: "" });
    const { stdout, stderr } = await koine(["send", open.url, "stream 2", "-o", "json"], { env: { KOINE_STREAM: "1" } });
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly cursor?: string });
    expect(stderr).toBe("");
    expect(events).toMatchObject([
      { kind: "task" },
      { kind: "artifact", text: "1 ", append: false },
      { kind: "artifact", text: "2 ", append: true },
      { kind: "status", state: "completed" },
    ]);
    expect(new Set(events.map(({ cursor }) => cursor ?? "")).size).toBe(4);
  });

  test("a failed task is reported, with exit code 0", async () => {
    const { code, stdout, stderr } = await koine(["send", open.url, "fail"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("The task failed: no luck today");
  });

  test("a question is printed with a command that answers it", async () => {
    const { code, stdout, stderr } = await koine(["send", open.url, "ask"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "which city?\n" });
    const [, id = ""] = /koine send \S+ --task (\S+) "…"/.exec(stderr) ?? [];
    const answered = await koine(["send", open.url, "Athens", "--task", id]);
    expect(answered).toEqual({ code: 0, stdout: "you answered Athens\n", stderr: "" });
  });

  test("a file of the answer is named, and saved under a name that stays in its folder", async () => {
    const named = await koine(["send", open.url, "file"]);
    expect(named.stderr).toContain("evil.txt, text/plain, 17 B: not shown");
    const target = join(folder, "saved");
    const { code } = await koine(["send", open.url, "file", "--save", target]);
    expect(code).toBe(0);
    expect(await readdir(target)).toEqual(["evil.txt"]);
    expect(await readFile(join(target, "evil.txt"), "utf8")).toBe("bytes of the file");
  });

  test("a closed pipe ends it without an error", async () => {
    const child = start(["send", open.url, "stream 5000", "--stream", "-o", "json"]);
    child.stdin?.end();
    child.stdout?.once("data", () => child.stdout?.destroy());
    const { code, stderr } = await outcomeOf(child);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("Ctrl-C ends the wait and prints how to resume; the task continues until it is cancelled", async () => {
    const child = start(["send", open.url, "slow", "--stream"]);
    child.stdin?.end();
    const ended = outcomeOf(child);
    await seen(child.stderr, /climbing the mountain/);
    child.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
    const [, id = ""] = /koine task subscribe \S+ (\S+) --after \S+/.exec(stderr) ?? [];

    const got = await koine(["task", "get", open.url, id, "-o", "json"]);
    expect(JSON.parse(got.stdout)).toMatchObject({ kind: "task", task: { id, state: "working" } });
    const canceled = await koine(["task", "cancel", open.url, id]);
    expect(canceled).toEqual({ code: 0, stdout: `${id} canceled\n`, stderr: "" });
  });
});

describe("task and card", () => {
  test("work started without waiting is found by its key, and followed to its end", async () => {
    const started = await koine(["send", open.url, "hold", "--no-wait", "--idempotency-key", "hold-1"]);
    const id = started.stdout.trim();
    expect(started).toEqual({ code: 0, stdout: `${id}\n`, stderr: "" });
    const listed = await koine(["task", "list", open.url, "--idempotency-key", "hold-1", "-o", "json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject({ kind: "tasks", tasks: [{ id }], total_size: 1, next_page_token: "" });
    const child = start(["task", "subscribe", open.url, id, "-o", "json"]);
    const ended = outcomeOf(child);
    const [snapshot = ""] = await seen(child.stdout, /^\{.*\}$/m);
    release();
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(JSON.parse(snapshot)).toMatchObject({ kind: "task", task: { id, state: "working" } });
    const [last = ""] = stdout.trimEnd().split("\n").slice(-1);
    expect(JSON.parse(last)).toMatchObject({ kind: "status", task_id: id, state: "completed" });
  });

  test("all pages come one per line", async () => {
    const peer = await connect(open.url);
    for (const key of ["p-1", "p-2", "p-3"]) await peer.send("fail", { session: "paged", key });
    await peer.close();
    const pages = await koine(["task", "list", open.url, "--session", "paged", "--page-size", "2", "--all", "-o", "json"]);
    const counts = pages.stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { tasks: unknown[] }).tasks.length);
    expect(counts).toEqual([2, 1]);
  });

  test("prints the original card with the evidence", async () => {
    const { stdout, stderr } = await koine(["card", "get", open.url, "-o", "json"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      url: open.url,
      proved: true,
      evidence: [
        `agent card at ${open.url}/.well-known/agent-card.json (parrot)`,
        `a probe of JSONRPC 1.0 at ${open.url}/a2a was answered in that version`,
      ],
      interfaces: [
        { protocol: "a2a", version: "1.0", binding: "JSONRPC", url: `${open.url}/a2a` },
        { protocol: "a2a", version: "1.0", binding: "HTTP+JSON", url: `${open.url}/a2a` },
        { protocol: "a2a", version: "0.3", binding: "JSONRPC", url: `${open.url}/a2a` },
        { protocol: "a2a", version: "0.3", binding: "HTTP+JSON", url: `${open.url}/a2a` },
        { protocol: "a2a", version: "1.0", binding: "GRPC", url: new URL(open.url).host },
        { protocol: "a2a", version: "0.3", binding: "GRPC", url: new URL(open.url).host },
      ],
      card: { name: "parrot", description: "Does what the tests ask" },
    });
    const text = await koine(["card", "get", open.url]);
    expect(text.stdout).toMatch(/^parrot 1\.0\.0\nDoes what the tests ask\n/);
  });

  test("conform prints the grid, and exits with 0 when every requirement is met", async () => {
    const { code, stdout } = await koine(["conform", open.url, "--only", "a2a:card"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^connectivity +✓ \d+/m);
    expect(stdout).toMatch(/ 0 unmet/);
  });
});

describe("serve", () => {
  test("finishes a call in progress on SIGTERM, then exits with 0", async () => {
    const path = join(folder, "napper.mjs");
    await writeFile(
      path,
      `export async function handle(message) {
        process.stderr.write("asked");
        await new Promise((resolve) => setTimeout(resolve, 700));
        return "rested " + message.text;
      }`,
    );
    const child = start(["serve", path, "--port", "0", "-o", "json"]);
    const ended = outcomeOf(child);
    const [line = ""] = await seen(child.stdout, /^\{.*\}$/m);
    const ready = JSON.parse(line) as { url: string };
    expect(ready).toMatchObject({ kind: "serving", agents: ["napper"], store: "memory" });
    const peer = await connect(ready.url);
    const asked = seen(child.stderr, /asked/);
    const answer = peer.ask("well");
    await asked;
    child.kill("SIGTERM");
    expect(await answer).toBe("rested well");
    await peer.close();
    expect((await ended).code).toBe(0);
  });

  test("TypeScript is served, with messages on stderr only, calls to try, tokens by name and metrics", async () => {
    const path = join(folder, "typed.ts");
    await writeFile(path, "export const handle = (message: { readonly text: string }): string => message.text;\n");
    const child = start(["serve", path, "--port", "0", "--try", "--metrics"], { KOINE_TOKENS: `ann=${TOKEN}` });
    const ended = outcomeOf(child);
    const [, url = "", admin = "", token = ""] = await seen(
      child.stderr,
      /Serving at (\S+)[\s\S]*admin\s+(\S+) {2}token (\S+)[\s\S]*Ctrl-C/,
    );
    const peer = await connect(url, { credentials: { bearer: TOKEN } });
    expect(await peer.ask("typed")).toBe("typed");
    await peer.close();
    const statusOf = async (address: string, bearer: string) =>
      (await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${bearer}` } })).status;
    expect([await statusOf(url, TOKEN), await statusOf(admin, TOKEN), await statusOf(admin, token)]).toEqual([404, 401, 200]);
    child.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("holders of a token: ann");
    expect(stderr).toContain("lost when this process ends");
    expect(stderr).toContain("curl -s ");
    expect(stderr).not.toContain(TOKEN);
  });

  test("a port in use exits with 1, an open port without tokens with 2, a module without an agent with 1", async () => {
    const path = join(folder, "nothing.mjs");
    await writeFile(path, "export const nothing = 1;");
    const empty = await koine(["serve", path, "--port", "0"]);
    expect(empty.code).toBe(1);
    expect(empty.stderr).toContain("exports no agent");
    await writeFile(path, "export const handle = () => 'hi';");
    const used = await koine(["serve", path, "--port", String(open.port)]);
    expect(used.code).toBe(1);
    expect(used.stderr).toContain(`port ${open.port} of 127.0.0.1 is in use`);
    const exposed = await koine(["serve", path, "--port", "0", "--host", "0.0.0.0"]);
    expect(exposed.code).toBe(2);
    expect(exposed.stderr).toContain("--open-to-everybody");
  });
});

const hasScript = spawnSync("script", ["--version"]).status === 0;

describe.skipIf(!hasScript)("on a terminal", () => {
  test("a long task has a progress line, which is gone when the answer comes", async () => {
    const command = [process.execPath, ...KOINE, "send", open.url, "nap"].map((word) => `'${word}'`).join(" ");
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      env: { PATH: process.env["PATH"], NO_COLOR: "1", COLUMNS: "80" },
      stdio: "pipe",
    });
    const { code, stdout } = await outcomeOf(child);
    expect(code).toBe(0);
    expect(stdout).toMatch(/working \ds · sleeping/);
    // The last output on the line erases it; only the answer remains.
    expect(stdout.endsWith("\r\u001b[2Kheard nap; text\r\n")).toBe(true);
  });
});
