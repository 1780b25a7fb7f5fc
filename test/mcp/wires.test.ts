import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Server, serve } from "../../src/index.js";
import { type Assistant, startAssistant, textIn } from "./assistant.js";
import { type CommandAgent, createCommandAgent, PIXEL } from "./command-agent.js";

/** The official client, the command in its own process, and agents over each wire. */
const WIRES = [
  ["a2a@1.0", "legacy"],
  ["a2a@0.3", "modern"],
  ["acp", "modern"],
  ["agora", "legacy"],
] as const;

describe.each(WIRES)("agents over %s, with an assistant of the %s era", { timeout: 60_000 }, (pin, era) => {
  let plain: CommandAgent;
  let watched: CommandAgent;
  let unwanted: CommandAgent;
  let servers: readonly Server[];
  let assistant: Assistant;

  beforeAll(async () => {
    [plain, watched, unwanted] = [createCommandAgent("plain"), createCommandAgent("watched"), createCommandAgent("unwanted")];
    servers = await Promise.all([plain, watched, unwanted].map(({ agent }) => serve(agent)));
    assistant = await startAssistant([...servers.map(({ url }) => url), "--protocol", pin], era);
  });
  afterAll(async () => {
    await assistant.close();
    for (const commands of [watched, unwanted]) commands.release();
    await Promise.all(servers.map((server) => server.close()));
  });

  test("are tools, described by their cards", async () => {
    const { tools } = await assistant.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["plain", "watched", "unwanted"]);
    expect(tools[0]?.description).toContain("Does what it is told");
    expect(tools[0]?.description).toContain("Rhymes: Finds rhymes");
    expect(tools[0]?.inputSchema.required).toEqual(["message"]);
    expect(tools[0]?.annotations).toMatchObject({ readOnlyHint: false, openWorldHint: true });
  });

  test("answer with text and structured content", async () => {
    const result = await assistant.call("plain", { message: "good morning" });
    expect(result.isError).toBeUndefined();
    expect(textIn(result)).toBe("plain heard good morning");
    expect(result.structuredContent).toMatchObject({ state: "completed", text: "plain heard good morning" });
    expect(result.structuredContent).toHaveProperty("session", expect.stringMatching(/./));
  });

  test("receive data and files beside the message", async () => {
    const files = [{ name: "dot.png", mediaType: "image/png", base64: PIXEL.toString("base64") }];
    expect(textIn(await assistant.call("plain", { message: "heard", data: { a: 1 }, files }))).toBe(
      `text, data, dot.png ${PIXEL.length}`,
    );
  });

  test("return images, other bytes, URLs and data by type", async () => {
    const { content } = await assistant.call("plain", { message: "picture" });
    expect(content).toEqual([
      { type: "text", text: "a dot" },
      { type: "image", mimeType: "image/png", data: PIXEL.toString("base64") },
      {
        type: "resource",
        resource: {
          uri: expect.stringContaining("table.csv"),
          mimeType: "text/csv",
          blob: Buffer.from("a,b").toString("base64"),
        },
      },
      { type: "resource_link", uri: "https://files.example/report.pdf", name: "report.pdf", mimeType: "application/pdf" },
    ]);
    const data = await assistant.call("plain", { message: "data" });
    expect(JSON.parse(textIn(data))).toEqual({ sum: 42 });
    expect(data.structuredContent).toMatchObject({ data: [{ sum: 42 }] });
  });

  test("report progress while they work", async () => {
    const notifications: { readonly progress: number; readonly message?: string | undefined }[] = [];
    const result = await assistant.call(
      "watched",
      { message: "slow" },
      {
        onprogress(progress) {
          notifications.push(progress);
          if (progress.message === "climbing") watched.release();
        },
      },
    );
    expect(textIn(result)).toBe("at the top");
    expect(notifications.map(({ message }) => message)).toContain("climbing");
    expect(notifications.map(({ progress }) => progress)).toEqual(notifications.map((_, index) => index + 1));
  });

  test("ask, and are answered by the task", async () => {
    const question = await assistant.call("plain", { message: "ask" });
    const { state, taskId } = question.structuredContent as { readonly state: string; readonly taskId: string }; // the output schema guarantees it
    expect([question.isError, state]).toEqual([undefined, "input-required"]);
    expect(textIn(question)).toContain("which city?");
    expect(textIn(question)).toContain(JSON.stringify(taskId));
    expect(textIn(await assistant.call("plain", { message: "Paris", task: taskId }))).toBe("you said Paris");
  });

  test("fail as a result, not as a protocol error", async () => {
    const result = await assistant.call("plain", { message: "fail" });
    expect(result.isError).toBe(true);
    expect(textIn(result)).toContain("no luck today");
    expect(result.structuredContent).toMatchObject({ state: "failed", error: { code: "internal" } });
  });

  test("are cancelled when the assistant cancels", async () => {
    const cancel = new AbortController();
    const call = assistant.call("unwanted", { message: "slow" }, { signal: cancel.signal });
    const refused = expect(call).rejects.toThrow();
    await unwanted.began;
    cancel.abort();
    await refused;
    await unwanted.stopped;
    // The connection still works.
    expect(textIn(await assistant.call("plain", { message: "still there" }))).toBe("plain heard still there");
  });
});
