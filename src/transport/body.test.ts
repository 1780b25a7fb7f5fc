import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { ByteCollector, isEventStream, responseJson, wholeBody } from "./body.js";
import { DEFAULT_LIMITS } from "./limits.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("ByteCollector", () => {
  test("one piece is not copied, many are joined in order", () => {
    const piece = bytes("abc");
    const one = new ByteCollector(10);
    expect(one.whole()).toHaveLength(0);
    one.add(piece);
    expect(one.whole()).toBe(piece);
    const many = new ByteCollector(10);
    for (const letter of "abcdefghij") expect(many.add(bytes(letter))).toBe(true);
    expect(many.whole()).toEqual(bytes("abcdefghij"));
    expect(many.add(bytes("k"))).toBe(false);
  });

  test("the first piece is never written into", () => {
    const memory = bytes("abcdef");
    const collected = new ByteCollector(100);
    collected.add(memory.subarray(0, 3));
    collected.add(bytes("XYZ"));
    expect(memory).toEqual(bytes("abcdef"));
    expect(collected.whole()).toEqual(bytes("abcXYZ"));
  });
});

describe("wholeBody and responseJson", () => {
  test("accept text, bytes, nothing and chunks", async () => {
    expect(wholeBody("é", 2)).toEqual(bytes("é"));
    expect(wholeBody(undefined, 2)).toHaveLength(0);
    expect(responseJson({ status: 200, headers: {}, body: '{"a":1}' }, DEFAULT_LIMITS)).toEqual({ a: 1 });
    async function* chunks(): AsyncGenerator<string | Uint8Array> {
      yield '{"a"';
      yield bytes(":2}");
    }
    expect(await responseJson({ status: 200, headers: {}, body: chunks() }, DEFAULT_LIMITS)).toEqual({ a: 2 });
    expect(() => wholeBody("abc", 2)).toThrow(AgentError);
    await expect(wholeBody(chunks(), 5)).rejects.toThrow("the body is longer than 5 bytes");
  });
});

describe("isEventStream", () => {
  test.each([
    ["text/event-stream", true],
    ["Text/Event-Stream; charset=utf-8", true],
    ["text/event-streams", false],
    ["application/json", false],
    [undefined, false],
  ])("%s: %s", (contentType, want) => {
    expect(isEventStream(contentType)).toBe(want);
  });
});
