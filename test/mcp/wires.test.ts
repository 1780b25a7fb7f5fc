import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Server, serve } from "../../src/index.js";
import { type Assistant, startAssistant, textIn } from "./assistant.js";
import { type Desk, newDesk, PIXEL } from "./desk.js";

/** The official client, the command as a process of its own, and agents that are reached over each wire. */
const WIRES = [
  ["a2a@1.0", "legacy"],
  ["a2a@0.3", "modern"],
  ["acp", "modern"],
  ["agora", "legacy"],
] as const;

describe.each(WIRES)("agents reached by %s, an assistant of the %s era", { timeout: 60_000 }, (pin, era) => {
  let plain: Desk;
  let watched: Desk;
  let unwanted: Desk;
  let servers: readonly Server[];
  let assistant: Assistant;

  beforeAll(async () => {
    [plain, watched, unwanted] = [newDesk("plain"), newDesk("watched"), newDesk("unwanted")];
    servers = await Promise.all([plain, watched, unwanted].map(({ agent }) => serve(agent)));
    assistant = await startAssistant([...servers.map(({ url }) => url), "--protocol", pin], era);
  });
  afterAll(async () => {
    await assistant.close();
    for (const desk of [watched, unwanted]) desk.release();
    await Promise.all(servers.map((server) => server.close()));
  });

  test("are tools, with what their cards say", async () => {
    const { tools } = await assistant.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["plain", "watched", "unwanted"]);
    expect(tools[0]?.description).toContain("Does what it is told");
    expect(tools[0]?.description).toContain("Rhymes: Finds rhymes");
    expect(tools[0]?.inputSchema.required).toEqual(["message"]);
    expect(tools[0]?.annotations).toMatchObject({ readOnlyHint: false, openWorldHint: true });
  });

  test("answer in text and in structure", async () => {
    const result = await assistant.call("plain", { message: "good morning" });
    expect(result.isError).toBeUndefined();
    expect(textIn(result)).toBe("plain heard good morning");
    expect(result.structuredContent).toMatchObject({ state: "completed", text: "plain heard good morning" });
    expect(result.structuredContent).toHaveProperty("session", expect.stringMatching(/./));
  });

  test("get data and files beside the message", async () => {
    const files = [{ name: "dot.png", mediaType: "image/png", base64: PIXEL.toString("base64") }];
    expect(textIn(await assistant.call("plain", { message: "heard", data: { a: 1 }, files }))).toBe(
      `text, data, dot.png ${PIXEL.length}`,
    );
  });

  test("give pictures, other bytes, addresses and data as what they are", async () => {
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

  test("tell what they do while they work", async () => {
    const told: { readonly progress: number; readonly message?: string | undefined }[] = [];
    const result = await assistant.call(
      "watched",
      { message: "slow" },
      {
        onprogress(progress) {
          told.push(progress);
          if (progress.message === "climbing") watched.release();
        },
      },
    );
    expect(textIn(result)).toBe("at the top");
    expect(told.map(({ message }) => message)).toContain("climbing");
    expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1));
  });

  test("ask, and are answered by the task", async () => {
    const question = await assistant.call("plain", { message: "ask" });
    const { state, taskId } = question.structuredContent as { readonly state: string; readonly taskId: string }; // the output schema says so
    expect([question.isError, state]).toEqual([undefined, "input-required"]);
    expect(textIn(question)).toContain("which city?");
    expect(textIn(question)).toContain(JSON.stringify(taskId));
    expect(textIn(await assistant.call("plain", { message: "Paris", task: taskId }))).toBe("you said Paris");
  });

  test("fail as a result, not as an error of the protocol", async () => {
    const result = await assistant.call("plain", { message: "fail" });
    expect(result.isError).toBe(true);
    expect(textIn(result)).toContain("no luck today");
    expect(result.structuredContent).toMatchObject({ state: "failed", error: { code: "internal" } });
  });

  test("are told to stop when the assistant cancels", async () => {
    const cancel = new AbortController();
    const call = assistant.call("unwanted", { message: "slow" }, { signal: cancel.signal });
    const refused = expect(call).rejects.toThrow();
    await unwanted.began;
    cancel.abort();
    await refused;
    await unwanted.stopped;
    // The line is still good.
    expect(textIn(await assistant.call("plain", { message: "still there" }))).toBe("plain heard still there");
  });
});
