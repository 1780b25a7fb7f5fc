import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError, type Envelope, newEnvelope, startCall, systemIds } from "../src/envelope/index.js";
import { agent, connect, type Server, serve } from "../src/index.js";

const LONG = "x".repeat(513);

let server: Server;
let heard = 0;
beforeAll(async () => {
  const counting = agent({ name: "counting", description: "counts", handle: () => String(++heard) });
  server = await serve(counting, { push: false });
});
afterAll(() => server.close());

async function refusal(pin: string, change: Partial<Envelope>): Promise<AgentError> {
  const peer = await connect(server.url, { pin });
  const envelope = { ...newEnvelope({ content: "hi", src: "me", dst: "counting", context: {} }, systemIds), ...change };
  try {
    await (peer.handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall()) as Promise<unknown>); // one answer
    throw new Error("it was accepted");
  } catch (thrown) {
    return AgentError.from(thrown);
  } finally {
    await peer.close();
  }
}

describe.each(["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@1.0/GRPC", "a2a@0.3/JSONRPC"])("over %s", (pin) => {
  test.each<readonly [string, Partial<Envelope>]>([
    ["message id", { id: LONG }],
    ["session id", { context: { sessionId: LONG } }],
    ["name in the metadata", { metadata: { [LONG]: 1 } }],
    ["list of references", { references: Array.from({ length: 200 }, () => LONG.slice(1)) }],
  ])("a long %s reaches no agent", async (_what, change) => {
    const before = heard;
    expect([(await refusal(pin, change)).code, heard]).toEqual(["too_large", before]);
  });
});

test("a long id reaches no agent by the plain endpoint of ACP", async () => {
  const before = heard;
  const body = JSON.stringify({ id: LONG, sender: "me", payload: { text: "hi" } });
  const response = await fetch(`${server.url}/acp/message`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect([response.status, heard]).toEqual([413, before]);
});
