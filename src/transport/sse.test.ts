import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeSse, SSE_COMMENT, type SseEvent, SseReader, sseEvents, sseLineEncoder } from "./sse.js";

const encoder = new TextEncoder();

function read(chunks: readonly Uint8Array[], maxEventBytes = 1 << 20): SseEvent[] {
  const events: SseEvent[] = [];
  const reader = new SseReader(maxEventBytes);
  for (const chunk of chunks) reader.push(chunk, (event) => events.push(event));
  reader.end();
  return events;
}

const readText = (text: string): SseEvent[] => read([encoder.encode(text)]);
const event = (data: string, more: Partial<SseEvent> = {}): SseEvent => ({
  data,
  id: undefined,
  event: undefined,
  retry: undefined,
  ...more,
});

/** The standard's algorithm over the whole text, written the slow and obvious way. */
function naive(bytes: Uint8Array): SseEvent[] {
  const text = new TextDecoder("utf-8").decode(bytes); // drops one byte order mark
  const lines = text.split(/\r\n|\r|\n/);
  lines.pop();
  const events: SseEvent[] = [];
  let data = "";
  let type = "";
  let id = "";
  let retry: number | undefined;
  for (const line of lines) {
    if (line === "") {
      if (data !== "") events.push({ data: data.slice(0, -1), id: id || undefined, event: type || undefined, retry });
      data = "";
      type = "";
      retry = undefined;
      continue;
    }
    const [, name = "", , value = ""] = /^([^:]*)(: ?)?([\s\S]*)$/.exec(line) ?? [];
    if (name === "data") data += `${value}\n`;
    else if (name === "event") type = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "retry" && /^[0-9]{1,9}$/.test(value)) retry = Number(value);
  }
  return events;
}

function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...places, bytes.length].map((end, index) => bytes.slice(index === 0 ? 0 : places[index - 1], end));
}

describe("encodeSse", () => {
  test("writes compact JSON as one data line", () => {
    expect(encodeSse('{"a":1}')).toBe('data: {"a":1}\n\n');
    expect(encodeSse("x", "7", "status")).toBe("event: status\nid: 7\ndata: x\n\n");
  });

  test("writes texts around data that has no line ends", () => {
    const encode = sseLineEncoder('{"result":', "}");
    expect([encode("1"), encode("2", "7")]).toEqual(['data: {"result":1}\n\n', 'id: 7\ndata: {"result":2}\n\n']);
    expect(() => encode("1", "a\nb")).toThrow("line ends");
  });

  test("writes one data line per line", () => {
    expect(encodeSse("a\nb\r\nc\rd")).toBe("data: a\ndata: b\ndata: c\ndata: d\n\n");
  });

  test("refuses an id or a name that would become another field", () => {
    expect(() => encodeSse("x", "1\ndata: y")).toThrow("line ends");
    expect(() => encodeSse("x", "1", "a\rb")).toThrow("line ends");
  });
});

describe("SseReader", () => {
  test.each<[string, string, SseEvent[]]>([
    ["three line ends", "data: a\n\ndata: b\r\n\r\ndata: c\r\r", [event("a"), event("b"), event("c")]],
    ["data lines are joined", "data: a\ndata:b\ndata\n\n", [event("a\nb\n")]],
    ["one space is dropped, not two", "data:  a\n\n", [event(" a")]],
    ["comments and unknown fields are ignored", `${SSE_COMMENT}:x\nfoo: bar\ndataset: b\nidle\ndata: a\n\n`, [event("a")]],
    ["an event without data is none", "event: x\nid: 1\n\ndata: a\n\n", [event("a", { id: "1" })]],
    ["empty data is an event", "data:\n\n", [event("")]],
    [
      "the id stays until the next",
      "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
      [event("a", { id: "1" }), event("b", { id: "1" }), event("c")],
    ],
    ["an id with NUL is ignored", "id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", [event("a", { id: "1" }), event("b", { id: "1" })]],
    [
      "name and retry",
      "event: done\nretry: 1500\ndata: a\n\nretry: x\ndata: b\n\n",
      [event("a", { event: "done", retry: 1500 }), event("b")],
    ],
    ["the last event without its empty line is discarded", "data: a\n\ndata: b\n", [event("a")]],
    ["a byte order mark is skipped once", "\ufeffdata: a\n\n\ufeffdata: b\n\n", [event("a")]],
  ])("%s", (_, text, want) => {
    expect(readText(text)).toEqual(want);
  });

  test("characters cut in the middle come out whole, byte by byte", () => {
    const bytes = encoder.encode("\ufeffid: é\r\ndata: héllo €😀\r\n\r\ndata: z\n\n");
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(read(pieces)).toEqual([event("héllo €😀", { id: "é" }), event("z", { id: "é" })]);
  });

  test("a partial byte order mark is kept", () => {
    expect(read([Uint8Array.of(0xef), encoder.encode("data: a\n\n")])).toEqual([]);
    expect(read([Uint8Array.of(0xef, 0xbb), Uint8Array.of(0xbf), encoder.encode("data: a\n\n")])).toEqual([event("a")]);
  });

  test("bytes that are not UTF-8 read as replacement characters", () => {
    expect(read([Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x0a, 0x0a)])).toEqual([event("\ufffd")]);
  });

  test("a chunk reused by its owner does not change buffered data", () => {
    const chunk = encoder.encode("data: hello");
    const events: SseEvent[] = [];
    const reader = new SseReader(100);
    reader.push(chunk, (each) => events.push(each));
    chunk.fill(0x58);
    reader.push(encoder.encode("\n\n"), (each) => events.push(each));
    expect(events).toEqual([event("hello")]);
  });

  test("one event is bounded, as one line and as many, many events are not", () => {
    expect(() => readBounded("data: 0123456789", 10)).toThrow("longer than 10 bytes");
    expect(() => readBounded("data: 1\n".repeat(3), 20)).toThrow("longer than 20 bytes");
    expect(readBounded("data: 12\n\n".repeat(100), 10)).toHaveLength(100);
    expect(readBounded(":0123456\n".repeat(100), 10)).toHaveLength(0);
  });

  const readBounded = (text: string, max: number): SseEvent[] => read([encoder.encode(text)], max);

  test("any split of any bytes gives the events of the reference parser", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "data",
        "data:",
        "data: ",
        "id: 7",
        "id:\0",
        "event: x",
        "retry: 10",
        ":c",
        "",
        "",
        "\ufeff",
        "date: x",
        "dataset: x",
        "retrys: 1",
        " x",
      ),
      fc.string({ unit: "binary", maxLength: 6 }).map((text) => `data: ${text}`),
    );
    const end = fc.constantFrom("\n", "\r", "\r\n", "\n\n");
    const text = fc.array(fc.tuple(line, end), { maxLength: 12 }).map((lines) => lines.flat().join(""));
    const raw = fc.oneof(
      text.map((each) => encoder.encode(each)),
      fc.uint8Array({ maxLength: 40 }),
    );
    fc.assert(
      fc.property(raw, fc.array(fc.nat(200), { maxLength: 8 }), (bytes, cuts) => {
        const want = naive(bytes);
        expect(read([bytes])).toEqual(want);
        expect(read(cutAt(bytes, cuts))).toEqual(want);
      }),
      { numRuns: 500 },
    );
  });

  test("round-trips", () => {
    const field = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n\0]/.test(text));
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), field, (data, id) => {
        expect(readText(encodeSse(data, id))).toEqual([event(data.replace(/\r\n?/g, "\n"), { id: id || undefined })]);
      }),
    );
  });
});

describe("sseEvents", () => {
  test("accepts text and bytes, and stops its source when the reader stops", async () => {
    let stopped = false;
    async function* chunks(): AsyncGenerator<string | Uint8Array> {
      try {
        yield "data: a\n\nda";
        yield encoder.encode("ta: b\n\n");
        yield "data: never\n\n";
      } finally {
        stopped = true;
      }
    }
    const got: string[] = [];
    for await (const { data } of sseEvents(chunks(), 100)) {
      got.push(data);
      if (got.length === 2) break;
    }
    expect(got).toEqual(["a", "b"]);
    expect(stopped).toBe(true);
  });
});
