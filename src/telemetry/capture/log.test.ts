import { describe, expect, it, test } from "vitest";
import { BodyCapture } from "./body-capture.js";
import { CAPTURE_LIMITS, type CapturedMessage, type CaptureLimits } from "./captured-message.js";
import { Entry } from "./entry.js";
import { MemoryLog, watchEnds } from "./log.js";

let made = 0;
function entry(text: string, limits: CaptureLimits, more: Partial<CapturedMessage> = {}): Entry {
  const id = `s-${++made}`;
  const via = { protocol: "toy", version: "1", binding: "memory" };
  const fixed = {
    id,
    direction: "in",
    at: made,
    traceId: "t",
    span: id,
    parentSpan: undefined,
    agent: "a",
    caller: "c",
    via,
  } as const;
  return new Entry({ ...fixed, operation: "send", messageId: undefined, text, ...more }, limits);
}

function newLog(given: Partial<CaptureLimits> = {}) {
  const limits = { ...CAPTURE_LIMITS, ...given };
  const log = new MemoryLog(limits, 1_000);
  const add = (text: string, more: Partial<CapturedMessage> = {}): Entry => {
    const added = entry(text, limits, more);
    log.add(added);
    return added;
  };
  return { log, add };
}

const body = (size: number): BodyCapture => {
  const capture = new BodyCapture("200", {}, size);
  capture.add("x".repeat(size));
  capture.end();
  return capture;
};

async function take(feed: AsyncIterable<CapturedMessage>, count: number): Promise<readonly CapturedMessage[]> {
  const taken: CapturedMessage[] = [];
  if (count > 0) for await (const message of feed) if (taken.push(message) === count) break;
  return taken;
}

describe("the capture log", () => {
  it("counts the names that callers and peers choose", () => {
    const { log, add } = newLog();
    const before = log.totalBytes;
    const long = add("", { caller: "c".repeat(500), messageId: "m".repeat(400) });
    long.taskId = "t".repeat(300);
    long.addLoss({ protocol: "toy", path: "p".repeat(200), valueKind: "string", reason: "" });
    log.changed(long);
    expect(log.totalBytes - before).toBeGreaterThanOrEqual(1_400);
  });

  it("evicts the least recently changed message at the limit", () => {
    const { log, add } = newLog({ sightings: 2 });
    const first = add("one");
    add("two");
    log.changed(first);
    add("three");
    expect(log.list({}, 10).map(({ text }) => text)).toEqual(["three", "one"]);
    expect([log.size, log.forgotten]).toEqual([2, 1]);
    expect(log.get("nobody")).toBeUndefined();
  });

  it("drops the oldest content at the byte limit and keeps the messages listed", () => {
    const { log, add } = newLog({ totalBytes: 250 });
    const entries = ["one", "two", "three"].map((text) => add(text));
    for (const each of entries) {
      each.setRequest(body(100));
      log.changed(each);
    }
    expect(log.totalBytes).toBeLessThanOrEqual(250);
    const kept = entries.map(({ start }) => log.get(start.id)?.request);
    expect(kept.map((wire) => [wire?.body.length, wire?.bytes, wire?.cut])).toEqual([
      [0, 100, true],
      [100, 100, false],
      [100, 100, false],
    ]);
    expect(log.size).toBe(3);
  });

  it("does not store content again once it was dropped", () => {
    const { log, add } = newLog({ totalBytes: 0 });
    const only = add("one");
    only.setRequest(body(10));
    log.changed(only);
    only.setResponse(body(10));
    log.changed(only);
    // What lists show remains, and is counted.
    expect([log.totalBytes, log.get(only.start.id)?.response?.body]).toEqual([only.size, ""]);
  });

  it("limits the events of a message and always keeps the last one", () => {
    const { log, add } = newLog({ eventsPerMessage: 3 });
    const only = add("one");
    for (let at = 1; at <= 10; at++) only.addEvent({ at, kind: "status" });
    log.changed(only);
    expect(log.get(only.start.id)?.events.map(({ at }) => at)).toEqual([1, 2, 10]);
    expect(log.list({}, 1)[0]?.eventCount).toBe(10);
  });

  it("matches all members of a filter", () => {
    const { log, add } = newLog();
    add("Hello", { agent: "x" });
    add("hello", { agent: "x", direction: "out" });
    add("other", { agent: "x" });
    expect(log.list({ agent: "x", direction: "in", text: "hELLO" }, 10).map(({ text }) => text)).toEqual(["Hello"]);
    expect(log.list({ protocol: "else" }, 10)).toEqual([]);
    expect(log.list({ status: "open" }, 2)).toHaveLength(2);
  });

  it("is paged by seq", () => {
    const { log, add } = newLog();
    for (const text of ["1", "2", "3"]) add(text);
    const [newest] = log.list({}, 1);
    expect(log.list({}, 10, newest?.seq).map(({ text }) => text)).toEqual(["2", "1"]);
  });
});

test("the end of a message is reported once", () => {
  const { log, add } = newLog();
  const ended: string[] = [];
  const stop = watchEnds(log, ({ start, status, endedAt }) => ended.push(`${start.text} ${status} ${endedAt}`));
  const [open, done] = [add("open"), add("done")];
  log.changed(open);
  done.status = "ok";
  done.endedAt = 7;
  log.changed(done);
  log.changed(done);
  expect(ended).toEqual(["done ok 7"]);
  stop();
  open.status = "failed";
  log.changed(open);
  expect(ended).toHaveLength(1);
});

describe("following", () => {
  const never = new AbortController().signal;

  it("delivers new messages from now on, or after a seq", async () => {
    const { log, add } = newLog();
    const before = add("before");
    const now = log.follow({}, 0, never);
    const behind = log.follow({}, before.seq - 1, never);
    add("new");
    expect((await take(now, 1)).map(({ text }) => text)).toEqual(["new"]);
    expect((await take(behind, 2)).map(({ text }) => text)).toEqual(["before", "new"]);
    expect(log.readers).toBe(0);
  });

  it("delivers each message once to a slow reader, in its latest state, in order of change", async () => {
    const { log, add } = newLog();
    const feed = log.follow({}, 0, never);
    const [one, two] = [add("one"), add("two")];
    one.status = "ok";
    for (let times = 0; times < 1_000; times++) log.changed(one);
    const got = await take(feed, 2);
    expect(got.map(({ text, status }) => [text, status])).toEqual([
      ["two", "open"],
      ["one", "ok"],
    ]);
    expect(got.map(({ seq }) => seq)).toEqual([two.seq, one.seq]);
  });

  it("gives a reader that waits each change, and what changes while it reads in its latest state", async () => {
    const { log, add } = newLog();
    const feed = log.follow({}, 0, never)[Symbol.asyncIterator]();
    const waiting = feed.next();
    const one = add("one");
    expect((await waiting).value?.text).toBe("one");
    const [two, three] = [add("two"), add("three")];
    expect((await feed.next()).value?.seq).toBe(two.seq);
    // Read already, but not delivered.
    log.changed(three);
    log.changed(one);
    expect((await feed.next()).value?.seq).toBe(three.seq);
    expect((await feed.next()).value?.seq).toBe(one.seq);
  });

  it("reports what a reader missed", async () => {
    const { log, add } = newLog({ sightings: 2 });
    const feed = log.follow({}, 0, never);
    for (const text of ["1", "2", "3"]) add(text);
    expect(feed.missed).toBe(1);
    const back = log.follow({}, 999_000, never);
    expect([back.missed, (await take(back, 2)).map(({ text }) => text)]).toEqual([1, ["2", "3"]]);
  });

  it("limits the readers and frees their slots", async () => {
    const { log } = newLog({ readers: 1 });
    const stop = new AbortController();
    const waiting = take(log.follow({}, 0, stop.signal), 1);
    expect(() => log.follow({}, 0, never)).toThrow(expect.objectContaining({ code: "overloaded" }));
    stop.abort();
    expect(await waiting).toEqual([]);
    expect(() => log.follow({}, 0, never)).not.toThrow();
  });

  it("with an aborted signal ends at once", async () => {
    const { log } = newLog();
    expect(await take(log.follow({}, 0, AbortSignal.abort()), 1)).toEqual([]);
    expect(log.readers).toBe(0);
  });
});
