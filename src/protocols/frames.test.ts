import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Frame, readFrames } from "./frames.js";

async function framesOf(chunks: readonly (string | Uint8Array)[]): Promise<readonly Frame[]> {
  const frames: Frame[] = [];
  async function* body(): AsyncGenerator<string | Uint8Array> {
    yield* chunks;
  }
  for await (const frame of readFrames(body())) frames.push(frame);
  return frames;
}

describe("readFrames()", () => {
  test("joins data lines, drops comments, reads the event's name", async () => {
    expect(await framesOf([': hi\n\nevent: error\ndata: {"a":\ndata: 1}\nid: 7\n\n'])).toEqual([
      { event: "error", data: '{"a":\n1}', dataLines: 2, unknownLines: [] },
    ]);
  });

  test.each(["\n", "\r\n", "\r"])("ends lines at %j", async (end) => {
    expect((await framesOf([`data: x${end}${end}data:y${end}${end}`])).map(({ data }) => data)).toEqual(["x", "y"]);
  });

  test("finds lines that are not server-sent events", async () => {
    expect((await framesOf(['{"bare":1}\n\n']))[0]?.unknownLines).toEqual(['{"bare":1}']);
  });

  test("an event without its blank line is truncated", async () => {
    await expect(framesOf(["data: x\n"])).rejects.toThrow("the stream ends inside an event: data: x");
  });

  test("returns the same events at any chunk boundaries", async () => {
    const bytes = new TextEncoder().encode("data: soirée 🎉\r\n\r\n: c\ndata: a\ndata: b\n\ndata: 中\r\r");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: bytes.length })), async (cuts) => {
        const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, index) => bytes.slice(edges[index], end));
        expect((await framesOf(chunks)).map(({ data }) => data)).toEqual(["soirée 🎉", "a\nb", "中"]);
      }),
      { numRuns: 200 },
    );
  });
});
