import { describe, expect, it } from "vitest";
import { BodyCapture } from "./body-capture.js";

const JSON_TYPE = { "content-type": "application/json" };
const EVENTS = { "content-type": "text/event-stream" };
const GRPC = { "content-type": "application/grpc+proto" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a captured body", () => {
  it("is the bytes that crossed the wire, whole", () => {
    const capture = new BodyCapture("200", JSON_TYPE, 100);
    capture.add(bytes('{"a": '));
    capture.add('"ü"}');
    capture.end();
    expect(capture.wire()).toMatchObject({ head: "200", body: '{"a": "ü"}', encoding: "utf8", bytes: 11, cut: false });
  });

  it("is a copy: a chunk is often a view of a buffer that is used again", () => {
    const capture = new BodyCapture("200", JSON_TYPE, 100);
    const chunk = Buffer.from('{"a":1}');
    capture.add(chunk);
    chunk.fill(0);
    capture.end();
    expect(capture.wire().body).toBe('{"a":1}');
  });

  it("is cut at the limit, between characters, and still counted to its end", () => {
    const capture = new BodyCapture("200", JSON_TYPE, 4);
    capture.add("abcü");
    capture.add("more");
    capture.end();
    expect(capture.wire()).toMatchObject({ body: "abc", bytes: 9, cut: true });
  });

  it("of a stream is readable line by line, and hides a secret that came in two pieces", () => {
    const capture = new BodyCapture("200", EVENTS, 1_000);
    capture.add('data: {"n":1}\n\ndata: {"token":"ab');
    expect(capture.wire().body).toBe('data: {"n":1}\n\n');
    capture.add('cd"}\n\n');
    expect(capture.wire().body).toBe('data: {"n":1}\n\ndata: {"token":"…"}\n\n');
  });

  it("that is no text is base64", () => {
    const capture = new BodyCapture("200", GRPC, 1_000);
    capture.add(new Uint8Array([0, 255, 1]));
    capture.end();
    expect(capture.wire()).toMatchObject({ body: "AP8B", encoding: "base64", bytes: 3 });
  });

  it("that claims to be text and is none is base64 too", () => {
    const capture = new BodyCapture("200", JSON_TYPE, 1_000);
    capture.add(new Uint8Array([0xff, 0xfe]));
    capture.end();
    expect(capture.wire()).toMatchObject({ body: "//4=", encoding: "base64" });
  });

  it("that is binary is dropped if it may hold a secret; text stays", () => {
    const [grpc, json] = [new BodyCapture("200", GRPC, 1_000), new BodyCapture("200", JSON_TYPE, 1_000)];
    for (const capture of [grpc, json]) {
      capture.add("x");
      capture.end();
      capture.dropBinary();
    }
    expect([grpc.wire(), json.wire()]).toMatchObject([
      { body: "", bytes: 1, cut: true },
      { body: "x", cut: false },
    ]);
  });

  it("copies what it keeps instead of holding the source buffer", () => {
    const large = new Uint8Array(1_000_000);
    const capture = new BodyCapture("200", GRPC, 10);
    capture.add(large);
    expect(capture.size).toBe(10);
  });
});
