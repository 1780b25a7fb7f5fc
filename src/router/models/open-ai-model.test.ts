import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { type Asked, type ScriptedModelServer, scriptedModelServer } from "../../../test/scripted-model.js";
import { AgentError, type Cancel, CancelSource } from "../../envelope/index.js";
import type { Link } from "../../transport/exchange.js";
import { NEVER } from "../../transport/request.js";
import { type OpenAiModel, type OpenAiModelOptions, openAiModel } from "./open-ai-model.js";

const KEY = "sk-a-secret-nobody-may-see";
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function modelWith(
  script: (asked: Asked, response: ServerResponse) => string | undefined,
  options: Partial<OpenAiModelOptions> = {},
): Promise<{ readonly model: OpenAiModel; readonly server: ScriptedModelServer }> {
  const server = await scriptedModelServer(script);
  const model = openAiModel({ baseUrl: server.baseUrl, model: "small", token: KEY, ...options });
  opened.push(
    () => server.close(),
    () => model.close(),
  );
  return { model, server };
}

async function errorOf(work: Promise<unknown>): Promise<AgentError> {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof AgentError) return thrown;
  throw new Error(`an AgentError was expected, not ${String(thrown)}`);
}

const answering =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (_asked: Asked, response: ServerResponse): undefined => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };

const QUESTION = { system: "Be brief.", messages: [{ role: "user", content: "Two and two?" }] } as const;

describe("openAiModel()", () => {
  it("sends the temperature and the seed that are given", async () => {
    const { model, server } = await modelWith(() => "four", { temperature: 0.7, seed: 11 });
    await model.complete(QUESTION, NEVER);
    expect(server.asked[0]?.body).toMatchObject({ temperature: 0.7, seed: 11 });
  });

  it.each([{ temperature: -1 }, { temperature: 3 }, { seed: 0.5 }])("refuses %j", (options) => {
    expect(() => openAiModel({ baseUrl: "http://127.0.0.1:1/v1", model: "small", ...options })).toThrow(
      /^(temperature|seed): is not/,
    );
  });

  it("sends an OpenAI chat completion, and returns the text", async () => {
    const { model, server } = await modelWith(() => "four");
    await expect(model.complete({ ...QUESTION, maxTokens: 9 }, NEVER)).resolves.toBe("four");
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]?.path).toBe("/v1/chat/completions");
    expect(server.asked[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(server.asked[0]?.headers["content-type"]).toBe("application/json");
    expect(server.asked[0]?.body).toEqual({
      model: "small",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Two and two?" },
      ],
      temperature: 0,
      stream: false,
      max_tokens: 9,
    });
  });

  it("makes the model call a function, and reads the call", async () => {
    const called = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: '{"a":2,"b":2}' } }],
    };
    const { model, server } = await modelWith(
      answering(200, JSON.stringify({ choices: [{ message: called, finish_reason: "tool_calls" }] })),
    );
    const add = { name: "add", description: "adds", parameters: { type: "object" } };
    const got = await model.choose({ ...QUESTION, tools: [add], toolChoice: { name: "add" } }, NEVER);
    expect(got).toEqual({ text: "", calls: [{ id: "call_1", name: "add", arguments: { a: 2, b: 2 } }] });
    expect(server.asked[0]?.body["tools"]).toEqual([{ type: "function", function: add }]);
    expect(server.asked[0]?.body["tool_choice"]).toEqual({ type: "function", function: { name: "add" } });
  });

  it("returns a function result in the server's format", async () => {
    const { model, server } = await modelWith(() => "four");
    const call = { id: "call_1", name: "add", arguments: { a: 2, b: 2 } };
    const said = [
      { role: "assistant", content: "", calls: [call] },
      { role: "tool", content: "4", callId: "call_1" },
    ] as const;
    await model.complete({ messages: said }, NEVER);
    expect(server.asked[0]?.body["messages"]).toEqual([
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: '{"a":2,"b":2}' } }],
      },
      { role: "tool", content: "4", tool_call_id: "call_1" },
    ]);
  });

  it("reads the key from the environment for each call, and names a missing variable", async () => {
    const { model, server } = await modelWith(() => "four", { token: undefined, apiKeyEnv: "KOINE_TEST_MODEL_KEY" });
    const missing = await errorOf(model.complete(QUESTION, NEVER));
    expect([missing.code, missing.facts.sent]).toEqual(["unauthenticated", "no"]);
    expect(missing.message).toContain("KOINE_TEST_MODEL_KEY");
    process.env["KOINE_TEST_MODEL_KEY"] = KEY;
    try {
      await model.complete(QUESTION, NEVER);
    } finally {
      delete process.env["KOINE_TEST_MODEL_KEY"];
    }
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`]);
  });

  it("sends no key where none is configured", async () => {
    const { model, server } = await modelWith(() => "four", { token: undefined });
    await model.complete(QUESTION, NEVER);
    expect(server.asked[0]?.headers.authorization).toBeUndefined();
  });

  const REFUSALS = [
    [400, "invalid_message"],
    [401, "unauthenticated"],
    [403, "forbidden"],
    [404, "not_found"],
    [413, "too_large"],
    [429, "overloaded"],
    [500, "unavailable"],
    [503, "unavailable"],
    [301, "bad_peer"],
    [204, "bad_peer"],
  ] as const;
  for (const [status, code] of REFUSALS)
    it(`reads HTTP ${status} as ${code}, asks once, and does not show the key`, async () => {
      const body = status === 204 ? "" : JSON.stringify({ error: { message: `Incorrect API key provided: ${KEY}` } });
      const { model, server } = await modelWith(answering(status, body, { location: "http://127.0.0.1:1/" }));
      const error = await errorOf(model.complete(QUESTION, NEVER));
      expect([error.code, error.facts.status]).toEqual([code, status]);
      expect(server.asked).toHaveLength(1);
      expect(`${error.message} ${JSON.stringify(error.facts)} ${error.stack}`).not.toContain(KEY);
    });

  it("hides authentication errors of the server, because some repeat parts of the key", async () => {
    const { model } = await modelWith(
      answering(401, JSON.stringify({ error: { message: `Incorrect key: ${KEY.slice(0, 8)}***` } })),
    );
    expect((await errorOf(model.complete(QUESTION, NEVER))).message).not.toContain(KEY.slice(0, 8));
  });

  it("leaves no listener on the caller's cancel, which may outlive many questions", async () => {
    const { model } = await modelWith(() => "four");
    let listeners = 0;
    const cancel: Cancel = {
      ...NEVER,
      onCancel() {
        listeners++;
        return () => void listeners--;
      },
    };
    await model.complete(QUESTION, cancel);
    expect(listeners).toBe(0);
  });

  it("reports retryAfterMs for 429", async () => {
    const { model } = await modelWith(answering(429, "{}", { "retry-after": "7" }));
    expect((await errorOf(model.complete(QUESTION, NEVER))).facts.retryAfterMs).toBe(7_000);
  });

  it("includes the server's error message, bounded", async () => {
    const { model } = await modelWith(answering(400, JSON.stringify({ error: { message: `too long ${"x".repeat(5_000)}` } })));
    const { message } = await errorOf(model.complete(QUESTION, NEVER));
    expect(message).toContain("too long");
    expect(message.length).toBeLessThan(500);
  });

  const MALFORMED = {
    "no JSON": "<html>",
    "no choices": "{}",
    "an empty list": '{"choices":[]}',
    "no message": '{"choices":[{}]}',
    "no words": '{"choices":[{"message":{"content":null}}]}',
    "a number for words": '{"choices":[{"message":{"content":4}}]}',
    "an answer that was broken off": '{"choices":[{"finish_reason":"length","message":{"content":"fo"}}]}',
    "arguments that are no object": '{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"[1]"}}]}}]}',
    "arguments that are no JSON": '{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}}]}',
    "too many bytes": `{"choices":[{"message":{"content":"${"x".repeat(5 * 1024 * 1024)}"}}]}`,
  };
  for (const [what, body] of Object.entries(MALFORMED))
    it(`refuses ${what} as a fault of the model's server`, async () => {
      const { model } = await modelWith(answering(200, body));
      expect((await errorOf(model.choose({ ...QUESTION, tools: [] }, NEVER))).code).toMatch(/^(bad_peer|too_large)$/);
    });

  it("enforces its time limit", async () => {
    const { model } = await modelWith(() => undefined, { timeoutMs: 50 });
    const error = await errorOf(model.complete(QUESTION, NEVER));
    expect([error.code, error.facts.sent]).toEqual(["deadline", "maybe"]);
  });

  it("stops when its caller cancels, and closes the connection", async () => {
    const cancel = new CancelSource();
    let hungUp: Promise<unknown> = Promise.resolve("never asked");
    const { model } = await modelWith((_asked, response) => {
      hungUp = new Promise((resolve) => response.on("close", () => resolve("hung up")));
      cancel.cancel(new AgentError("cancelled", "enough"));
      return undefined;
    });
    expect((await errorOf(model.complete(QUESTION, cancel))).message).toBe("enough");
    await expect(hungUp).resolves.toBe("hung up");
  });

  it("sends nothing after its caller cancelled", async () => {
    const { model, server } = await modelWith(() => "four");
    const cancel = new CancelSource();
    cancel.cancel(new AgentError("cancelled", "enough"));
    expect((await errorOf(model.complete(QUESTION, cancel))).code).toBe("cancelled");
    expect(server.asked).toHaveLength(0);
  });

  it("uses a link it is given, and leaves it open", async () => {
    let closed = false;
    const link: Link = {
      exchange: async () => ({ status: 200, headers: {}, body: '{"choices":[{"message":{"content":"four"}}]}' }),
      async close() {
        closed = true;
      },
    };
    const model = openAiModel({ baseUrl: "https://models.example/v1/", model: "small", link });
    await expect(model.complete(QUESTION, NEVER)).resolves.toBe("four");
    await model.close();
    expect(closed).toBe(false);
  });

  const REFUSED: readonly Partial<OpenAiModelOptions>[] = [
    { baseUrl: "models.example" },
    { baseUrl: "file:///etc/passwd" },
    { baseUrl: "https://me:secret@models.example/v1" },
    { model: "" },
    { token: "two\r\nlines" },
    { token: "" },
  ];
  for (const options of REFUSED)
    it(`refuses ${JSON.stringify(options)} at once`, () => {
      const make = (): unknown => openAiModel({ baseUrl: "https://models.example/v1", model: "small", ...options });
      expect(make).toThrow(AgentError);
      expect(make).not.toThrow(/secret@|lines/);
    });
});
