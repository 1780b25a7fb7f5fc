import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type ScriptedModelServer, scriptedModelServer } from "../../../test/scripted-model.js";
import { hashOf, payloadOf } from "../payload.js";
import { paced } from "./live.js";
import { openModel } from "./open-model.js";
import { readRecording } from "./recording.js";
import { serviceMs } from "./scripted.js";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});
const never = new AbortController().signal;

async function server(script: Parameters<typeof scriptedModelServer>[0]): Promise<ScriptedModelServer> {
  const started = await scriptedModelServer(script);
  opened.push(() => started.close());
  return started;
}

function live(baseUrl: string, more: { readonly timeoutMs?: number; readonly record?: string } = {}) {
  return openModel({ kind: "live", baseUrl, model: "small", timeoutMs: 20_000, ...more });
}

describe("a live model", () => {
  it("is asked with the paper's decoding parameters", async () => {
    const { baseUrl, asked } = await server(() => "forty-two");
    expect(await (await live(baseUrl)).answer("#1 what?", never)).toBe("forty-two");
    expect(asked[0]?.body).toMatchObject({ model: "small", temperature: 0, top_p: 1, max_tokens: 4096 });
    expect(asked[0]?.body["messages"]).toEqual([{ role: "user", content: "#1 what?" }]);
  });

  it.each([429, 500])("fails once and for all at HTTP %i: the caller owns retries", async (status) => {
    const { baseUrl, asked } = await server((_asked, response) => {
      response.writeHead(status).end();
      return undefined;
    });
    await expect((await live(baseUrl)).answer("#1 what?", never)).rejects.toThrow(`HTTP ${status}`);
    expect(asked).toHaveLength(1);
  });

  it("fails when the answer is cut off", async () => {
    const { baseUrl } = await server((_asked, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"choices":[', () => response.destroy());
      return undefined;
    });
    await expect((await live(baseUrl)).answer("#1 what?", never)).rejects.toThrow();
  });

  it("fails when the answer does not come in time", async () => {
    const { baseUrl } = await server(() => undefined);
    await expect((await live(baseUrl, { timeoutMs: 50 })).answer("#1 what?", never)).rejects.toThrow(
      "did not answer within 50 ms",
    );
  });

  it("is recorded, and its recording gives the same answers", async () => {
    const folder = mkdtempSync(join(tmpdir(), "koine-recording-"));
    opened.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "answers.jsonl");
    const { baseUrl, asked } = await server(() => `answer ${asked.length}`);
    const model = await live(baseUrl, { record: file });
    const answers = [await model.answer("#1 one", never), await model.answer("#2 two", never)];
    const recorded = await openModel({ kind: "recorded", file });
    expect([await recorded.answer("#1 one", never), await recorded.answer("#2 two", never)]).toEqual(answers);
    await expect(recorded.answer("#3 three", never)).rejects.toThrow("has no answer for the request");
    appendFileSync(file, "not JSON\n");
    expect(() => readRecording(readFileSync(file, "utf8"), "answers.jsonl")).toThrow("answers.jsonl:3: not JSON");
  });

  it("is asked at most so often", async () => {
    // The clock stands still: the second turn would have to wait.
    const turn = paced(1_000, () => 5_000);
    await turn(never);
    const gone = AbortSignal.abort();
    await expect(turn(gone)).rejects.toThrow();
  });
});

/** One event of a streamed completion. */
function chunk(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
}

async function streamed(baseUrl: string, timeoutMs = 20_000): Promise<AsyncIterator<string>> {
  const stream = (await live(baseUrl, { timeoutMs })).stream?.("#1 what?", never);
  if (stream === undefined) throw new Error("it does not stream");
  return stream[Symbol.asyncIterator]();
}

async function rest(pieces: AsyncIterator<string>): Promise<readonly string[]> {
  const found: string[] = [];
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) found.push(next.value);
  return found;
}

describe("the stream of a live model", () => {
  it("has the first piece before the server has sent the next", async () => {
    let more: () => void = () => undefined;
    const { baseUrl, asked } = await server((_asked, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`: hello\n\ndata: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n${chunk("forty")}`);
      more = () => response.end(`${chunk("-two").replaceAll("\n", "\r\n")}data: [DONE]\n\n`);
      return undefined;
    });
    const pieces = await streamed(baseUrl);
    expect(await pieces.next()).toEqual({ done: false, value: "forty" });
    more();
    expect(await rest(pieces)).toEqual(["-two"]);
    expect(asked[0]?.body).toMatchObject({ stream: true, temperature: 0, top_p: 1, max_tokens: 4096 });
  });

  it.each([
    [429, "overloaded"],
    [500, "unavailable"],
    [404, "bad_peer"],
  ])("fails at HTTP %i, once", async (status, code) => {
    const { baseUrl, asked } = await server((_asked, response) => void response.writeHead(status).end("no"));
    await expect(rest(await streamed(baseUrl))).rejects.toMatchObject({ code, message: `the model answers HTTP ${status}` });
    expect(asked).toHaveLength(1);
  });

  it.each(["its connection breaks", "it ends"])("fails when %s before it says that it is done", async (how) => {
    const { baseUrl } = await server((_asked, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunk("forty"), () => (how === "it ends" ? response.end() : response.destroy()));
      return undefined;
    });
    await expect(rest(await streamed(baseUrl))).rejects.toThrow("the answer of the model was cut off");
  });

  it("fails when it is too slow, or no JSON", async () => {
    const slow = await server(() => undefined);
    await expect(rest(await streamed(slow.baseUrl, 50))).rejects.toThrow("the model did not answer within 50 ms");
    const wrong = await server((_asked, response) => void response.end("data: nope\n\n"));
    await expect(rest(await streamed(wrong.baseUrl))).rejects.toThrow("an event of the model is not JSON");
  });
});

describe("a scripted model", () => {
  it("draws the same service time for the same request, and others for others", () => {
    expect(serviceMs(7, 3, 20)).toBe(serviceMs(7, 3, 20));
    expect(serviceMs(7, 3, 20)).not.toBe(serviceMs(7, 4, 20));
    expect(serviceMs(7, 3, 20)).not.toBe(serviceMs(8, 3, 20));
  });

  it("has the mean that is asked for, as an exponential distribution cut at five means has", () => {
    const draws = Array.from({ length: 20_000 }, (_, seq) => serviceMs(1, seq, 20));
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    // 20 (1 − e⁻⁵) = 19.865; the standard error is 0.14.
    expect(Math.abs(mean - 19.865)).toBeLessThan(0.7);
    expect(Math.max(...draws)).toBeLessThanOrEqual(100);
  });

  it("has the mean and the deviation that are asked for, and hardly a draw beyond the paper's longest answer", () => {
    const draws = Array.from({ length: 20_000 }, (_, seq) => serviceMs(1, seq, 9.66, 0.112));
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    const deviation = Math.sqrt(draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / draws.length);
    // Standard errors: 0.0077 of the mean, 0.0055 of the deviation.
    expect(Math.abs(mean - 9.66)).toBeLessThan(0.04);
    expect(Math.abs(deviation - 1.08)).toBeLessThan(0.03);
    // Of a lognormal distribution 0.0002 lie beyond 14.24.
    expect(draws.filter((draw) => draw > 14.24).length).toBeLessThan(20);
  });
});

describe("payloads", () => {
  it("are of the wanted size, and the same for the same seed and number", () => {
    expect(payloadOf(3, 12, 64)).toHaveLength(64);
    expect(payloadOf(3, 12, 64)).toMatch(/^#12 /);
    expect(payloadOf(3, 12, 64)).toBe(payloadOf(3, 12, 64));
    expect(new Set(Array.from({ length: 500 }, (_, seq) => hashOf(payloadOf(3, seq, 64)))).size).toBe(500);
  });
});
