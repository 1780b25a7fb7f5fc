import { describe, expect, it } from "vitest";
import { BodyCapture } from "./body-capture.js";
import { MessageCapture } from "./message-capture.js";

const captured = (limit: number, ...frames: readonly (string | Uint8Array)[]) => {
  const capture = new MessageCapture("WS /toy", limit);
  for (const frame of frames) capture.add(frame);
  return capture;
};

describe("captured messages", () => {
  it("are one line each; the size is that of the messages alone", () => {
    expect(captured(100, '{"a":"ü"}', '{"b":2}').wire()).toEqual({
      head: "WS /toy",
      headers: {},
      body: '{"a":"ü"}\n{"b":2}',
      encoding: "utf8",
      bytes: 10 + 7,
      cut: false,
    });
  });

  it("are redacted exactly as a JSON body is, also where a line ends between name and value", () => {
    for (const text of [
      '{"token":"abc","n":1}',
      '{\n  "api_key":\n    "abc"\n}',
      '{"text":"{\\"password\\":\\"abc\\"}"}',
      '{"headers":{"Authorization":"Bearer abc"}}',
    ]) {
      const body = new BodyCapture("200", { "content-type": "application/json" }, 1_000);
      body.add(text);
      body.end();
      const { body: shown } = captured(1_000, text).wire();
      expect(shown).toBe(body.wire().body);
      expect(shown).not.toContain("abc");
    }
  });

  it("hide the secret of each message, not only of the first", () => {
    expect(captured(1_000, '{"token":"abc"}', '{"n":1}', '{"token":"def"}').wire().body).toBe(
      '{"token":"…"}\n{"n":1}\n{"token":"…"}',
    );
  });

  it("are cut at the limit, between characters, and counted to their end", () => {
    // Four bytes, a separator, and two of the three bytes that would follow.
    const capture = captured(7, "abcd", "eü", "more");
    expect(capture.wire()).toMatchObject({ body: "abcd\ne", bytes: 4 + 3 + 4, cut: true });
    expect(capture.size).toBe(6);
  });

  it("hide a secret that the limit cuts in two", () => {
    expect(captured(14, '{"token":"abcdef"}').wire()).toMatchObject({ body: '{"token":"…"', cut: true });
  });

  it("that are empty use the limit too", () => {
    const capture = captured(3, ...Array.from({ length: 1_000 }, () => ""));
    expect(capture.wire()).toMatchObject({ body: "\n\n\n", bytes: 0, cut: true });
  });

  it("that are binary leave only their size", () => {
    const binary = new Uint8Array([0x7b, 0x7d, 0xff]);
    expect(captured(100, binary).wire()).toMatchObject({ body: "", encoding: "utf8", bytes: 3, cut: true });
    expect(captured(100, "one", binary, "two").wire()).toMatchObject({ body: "one\ntwo", bytes: 9, cut: true });
  });

  it("are discarded when memory is needed, and not kept again", () => {
    const capture = captured(100, "one");
    capture.drop();
    capture.add("two");
    expect(capture.wire()).toMatchObject({ body: "", bytes: 6, cut: true });
    expect(capture.size).toBe(0);
  });
});
