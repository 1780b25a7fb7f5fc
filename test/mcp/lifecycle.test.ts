import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import { agent, type Server, serve } from "../../src/index.js";
import { bearerTokens } from "../../src/public/auth.js";
import { type Assistant, ENTRY, exitOf, startAssistant, textIn } from "./assistant.js";
import { createCommandAgent } from "./command-agent.js";

/** Agents with equal names, agents that are down, die or restart, and assistants that disconnect. */

/** Each test starts a process. */
const SLOWLY = { timeout: 60_000 } as const;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serving(...given: Parameters<typeof serve>): Promise<Server> {
  const server = await serve(...given);
  closing.push(() => server.close());
  return server;
}

async function assisting(...given: Parameters<typeof startAssistant>): Promise<Assistant> {
  const assistant = await startAssistant(...given);
  closing.push(() => assistant.close());
  return assistant;
}

const echo = (name: string, answer: string) => agent({ name, description: `Says ${answer}`, handle: () => answer });

/** A port without a listener. */
async function freePort(): Promise<number> {
  const server = await serve(echo("nobody", "nothing"));
  await server.close();
  return server.port;
}

const named = (tools: readonly { readonly name: string }[], name: string): boolean => tools.some((tool) => tool.name === name);

describe("names", SLOWLY, () => {
  test("two agents of one name are two tools, in the order given", async () => {
    const servers = await Promise.all([serving(echo("twin", "one")), serving(echo("twin", "two"))]);
    const assistant = await assisting(servers.map(({ url }) => url));
    const { tools } = await assistant.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["twin", "twin_2"]);
    expect(textIn(await assistant.call("twin", { message: "hi" }))).toBe("one");
    expect(textIn(await assistant.call("twin_2", { message: "hi" }))).toBe("two");
  });

  test("a chosen name is used, and each skill can be a tool", async () => {
    const server = await serving(createCommandAgent("desk").agent);
    const assistant = await assisting([`mine=${server.url}`, "--per-skill"]);
    const { tools } = await assistant.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["mine_sum", "mine_rhyme"]);
    expect(textIn(await assistant.call("mine_rhyme", { message: "moon" }))).toBe("a rhyme");
  });

  test("a gateway provides all its agents", async () => {
    const server = await serving([echo("first", "one"), echo("second", "two")]);
    const assistant = await assisting(["--gateway", server.url]);
    expect((await assistant.client.listTools()).tools.map(({ name }) => name)).toEqual(["first", "second"]);
    expect(textIn(await assistant.call("second", { message: "hi" }))).toBe("two");
  });
});

describe("invalid calls", SLOWLY, () => {
  test("are results that the model can read; an unknown tool is a protocol error", async () => {
    const server = await serving(echo("parrot", "hello"));
    const assistant = await assisting([server.url]);
    const wrong = await assistant.call("parrot", { message: 7 });
    expect([wrong.isError, textIn(wrong)]).toEqual([true, "error invalid_message: message must be a string"]);
    await expect(assistant.call("nobody", { message: "hi" })).rejects.toMatchObject({ code: -32602 });
  });

  test("a wait that timed out can be continued", async () => {
    const commands = createCommandAgent("desk");
    const server = await serving(commands.agent);
    closing.push(async () => commands.release());
    const assistant = await assisting([server.url, "--timeout", "1"]);
    const late = await assistant.call("desk", { message: "slow" });
    const { error, taskId } = late.structuredContent as { readonly error: { readonly code: string }; readonly taskId: string }; // the output schema guarantees it
    expect([late.isError, error.code]).toEqual([true, "deadline"]);
    commands.release();
    expect(textIn(await assistant.call("desk", { message: "", task: taskId }))).toBe("at the top");
  });
});

describe("changes of agents", SLOWLY, () => {
  test.each(["legacy", "modern"] as const)("an agent that was down gets its tool when it answers (%s)", async (era) => {
    const port = await freePort();
    const up = await serving(echo("up", "here"));
    const assistant = await assisting([`http://127.0.0.1:${port}`, up.url], era);
    const { tools } = await assistant.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["up", "koine_missing_agents"]);
    expect(textIn(await assistant.call("koine_missing_agents", {}))).toContain(`http://127.0.0.1:${port}: unavailable:`);
    await serving(echo("late", "at last"), { port });
    const now = await assistant.listWith((listed) => named(listed, "late"));
    expect(now.map(({ name }) => name)).toEqual(["late", "up"]);
    expect(textIn(await assistant.call("late", { message: "hi" }))).toBe("at last");
  });

  test("an agent that dies is reported when called, and replaced when it restarts", async () => {
    const first = await serve(echo("phoenix", "young"));
    const assistant = await assisting([first.url, "--protocol", "a2a"]);
    expect(textIn(await assistant.call("phoenix", { message: "hi" }))).toBe("young");
    await first.close();
    const dead = await assistant.call("phoenix", { message: "hi" });
    expect(dead.isError).toBe(true);
    expect(dead.structuredContent).toMatchObject({
      // Depends on whether the old connection was closed before or after the message left.
      error: { code: expect.stringMatching(/^(unavailable|interrupted)$/), hint: expect.stringMatching(/./) },
    });
    await serving(echo("phoenix", "reborn"), { port: first.port });
    await assistant.listWith((tools) => tools.some(({ description }) => description?.includes("Says reborn") === true));
    expect(textIn(await assistant.call("phoenix", { message: "hi" }))).toBe("reborn");
  });
});

describe("the process", SLOWLY, () => {
  test("sends credentials only to their agent", async () => {
    const token = "a-token-for-ann-0123456789";
    const server = await serving(echo("guarded", "come in"), { admission: bearerTokens(new Map([["ann", token]])) });
    const child = spawn(process.execPath, [...ENTRY, server.url], { env: { PATH: process.env["PATH"], KOINE_TOKEN: token } });
    const line = new Line(child);
    await line.open();
    const listed = await line.ask("tools/list", {});
    const called = await line.ask("tools/call", { name: "guarded", arguments: { message: "hi" } });
    expect(JSON.stringify(listed)).toContain('"guarded"');
    expect(JSON.stringify(called)).toContain("come in");
    const exit = exitOf(child);
    child.stdin.end();
    expect(await exit).toBe(0);
    expect(line.all.join("\n")).not.toContain(token);
  });

  test("exits with 0 when stdin closes, cancels running calls, and writes only MCP to stdout", async () => {
    const commands = createCommandAgent("desk");
    const server = await serving(commands.agent);
    const child = spawn(process.execPath, [...ENTRY, server.url], { env: { PATH: process.env["PATH"] } });
    const line = new Line(child);
    await line.open();
    void line.ask("tools/call", { name: "desk", arguments: { message: "slow" } });
    await commands.began;
    const exit = exitOf(child);
    child.stdin.end();
    await commands.stopped;
    expect(await exit).toBe(0);
    expect(line.all.map((text) => (JSON.parse(text) as { readonly jsonrpc: string }).jsonrpc)).toEqual(line.all.map(() => "2.0"));
  });
});

/** MCP over the raw pipe, without any library. */
class Line {
  readonly all: string[] = [];
  readonly #child: ReturnType<typeof spawn>;
  readonly #waiting = new Map<number, (message: unknown) => void>();
  #id = 0;

  constructor(child: ReturnType<typeof spawn>) {
    this.#child = child;
    if (child.stdout === null) throw new Error("the child has no stdout");
    createInterface({ input: child.stdout }).on("line", (text) => {
      this.all.push(text);
      const { id } = JSON.parse(text) as { readonly id?: number }; // a JSON-RPC message
      if (id !== undefined) this.#waiting.get(id)?.(JSON.parse(text));
    });
  }

  async open(): Promise<void> {
    const clientInfo = { name: "by hand", version: "1" };
    await this.ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#write({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  ask(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#id;
    this.#write({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #write(message: unknown): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }
}
