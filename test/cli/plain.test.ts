import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { at, type Stub, startA2aStub, startAcpStub, startAgoraStub } from "../plain/stub.js";
import { koine } from "./koine.js";

/** Peers that speak only the plain protocols of the seeds are called as any other. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

interface PlainPeer {
  readonly name: string;
  readonly start: () => Promise<Stub>;
  /** Where the fields of the envelope are, by Table 8. */
  readonly id: readonly string[];
  readonly source: readonly string[];
  readonly text: readonly string[];
  readonly key: readonly string[];
  readonly session: readonly string[];
}

const PEERS: readonly PlainPeer[] = [
  {
    name: "a2a",
    start: startA2aStub,
    id: ["id"],
    source: ["params", "routing", "source"],
    text: ["params", "message", "text"],
    key: ["params", "context", "idempotency_key"],
    session: ["params", "context", "session_id"],
  },
  {
    name: "acp",
    start: startAcpStub,
    id: ["id"],
    source: ["sender"],
    text: ["payload", "text"],
    key: ["metadata", "idempotency_key"],
    session: ["session_id"],
  },
  {
    name: "agora",
    start: startAgoraStub,
    id: ["metadata", "request_id"],
    source: ["metadata", "source"],
    text: ["message"],
    key: ["metadata", "idempotency_key"],
    session: ["metadata", "session"],
  },
];

describe.each(PEERS)("a plain peer of $name", (peer) => {
  let stub: Stub;
  beforeAll(async () => {
    stub = await peer.start();
  });
  afterAll(() => stub?.close());

  test("is found and answers, and no message is sent to find it", async () => {
    const { code, stdout, stderr } = await koine(["send", stub.url, "hello", "-v"]);
    expect([code, stdout]).toEqual([0, "you said: hello\n"]);
    expect(stderr).toContain(`${peer.name}@plain`);
    expect(stub.worked).toEqual(["hello"]);
    expect(stub.received).toHaveLength(1);
  });

  test("gets the fields of the seed: id, source, text, session and key; a key works once", async () => {
    const before = stub.worked.length;
    const args = ["send", stub.url, "once", "--session", "s-1", "--idempotency-key", "k-1"];
    const [first, second] = [await koine(args), await koine(args)];
    expect([first.stdout, second.stdout]).toEqual(["you said: once\n", "you said: once\n"]);
    expect(stub.worked.slice(before)).toEqual(["once"]);
    const body = stub.received.at(-1);
    expect(at(body, ...peer.id)).toMatch(UUID);
    expect(typeof at(body, ...peer.source)).toBe("string");
    expect([at(body, ...peer.text), at(body, ...peer.key), at(body, ...peer.session)]).toEqual(["once", "k-1", "s-1"]);
  });

  test("that fails is reported as failed", async () => {
    const { code, stdout, stderr } = await koine(["send", stub.url, "fail", "-o", "json"]);
    expect(`${code} ${stdout}${stderr}`).toMatch(/the agent failed/);
    expect(stdout).not.toContain("completed");
  });
});

describe("streams of plain peers", () => {
  test.each(PEERS.slice(0, 2))("$name: pieces arrive, and a cut stream continues after Last-Event-ID", async ({ start }) => {
    const stub = await start();
    try {
      const whole = await koine(["send", stub.url, "hello", "--stream"]);
      expect([whole.code, whole.stdout]).toEqual([0, "you said: hello\n"]);
      expect(stub.headers.at(-1)?.accept).toContain("text/event-stream");
      const cut = await koine(["send", stub.url, "cut", "--stream"]);
      expect([cut.code, cut.stdout]).toEqual([0, "you said: cut\n"]);
      expect(stub.headers.at(-1)?.["last-event-id"]).toBe("2");
      expect(stub.received.at(-1)).toEqual(stub.received.at(-2));
      expect(stub.worked).toEqual(["hello", "cut"]);
    } finally {
      await stub.close();
    }
  });
});

test("a job of a plain ACP peer is polled at /acp/status until it ends", async () => {
  const stub = await startAcpStub();
  try {
    const { code, stdout } = await koine(["send", stub.url, "slow"]);
    expect([code, stdout]).toEqual([0, "slowly done\n"]);
    expect(stub.others.filter((each) => each.startsWith("GET /acp/status?run_id=")).length).toBeGreaterThanOrEqual(3);
  } finally {
    await stub.close();
  }
});

test("a conversation with a plain Agora peer continues below /conversations", async () => {
  const stub = await startAgoraStub();
  try {
    const { connect } = await import("../../src/index.js");
    const peer = await connect(stub.url);
    expect(await peer.ask("one", { session: "s" })).toBe("you said: one");
    expect(await peer.ask("two", { session: "s" })).toBe("turn 2: you said: two");
    await peer.close();
  } finally {
    await stub.close();
  }
});
