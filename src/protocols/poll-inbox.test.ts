import { describe, expect, test } from "vitest";
import { CancelSource, startCall, systemIds } from "../envelope/index.js";
import type { HttpResponse } from "../transport/exchange.js";
import { createClientContext } from "./client-context.js";
import { pollInbox } from "./poll-inbox.js";

const card = {
  name: "peer",
  description: "",
  version: "",
  skills: [],
  inputModes: [],
  outputModes: [],
  capabilities: { streaming: false, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};

function receiver(answers: readonly HttpResponse[]) {
  const asked: string[] = [];
  const link = {
    exchange: ({ method, target }: { method: string; target: string }) => {
      asked.push(`${method} ${target}`);
      return answers[asked.length - 1] ?? { status: 500, headers: {}, body: "" };
    },
    close: async () => undefined,
  };
  const peer = { url: "http://peer.test/a2a", card, version: "1.0", binding: "JSONRPC" };
  return { asked, receive: pollInbox({ ...createClientContext({ link, ids: systemIds }), peer }) };
}

const json = (value: unknown): HttpResponse => ({ status: 200, headers: {}, body: JSON.stringify(value) });
/** An envelope of the seed, Table 5. */
const ute = (id: string, text: string) => ({ id, ts: 1, src: "peer", dst: "me", content: { text }, context: {} });

describe("pollInbox", () => {
  test("yields the messages of the seed's inbox in order", async () => {
    const { asked, receive } = receiver([json({ messages: [ute("m1", "one"), ute("m2", "two")] })]);
    const cancel = new CancelSource();
    const ids: string[] = [];
    for await (const { id } of receive(startCall({ cancel }))) {
      ids.push(id);
      if (ids.length === 2) break;
    }
    expect(ids).toEqual(["m1", "m2"]);
    expect(asked).toEqual(["GET http://peer.test/inbox"]);
  });

  test.each([404, 405, 501])("asks a server without an inbox only once: %i", async (status) => {
    const { asked, receive } = receiver([{ status, headers: {}, body: "" }]);
    for (const _attempt of [1, 2]) {
      const first = receive(startCall())[Symbol.asyncIterator]().next();
      await expect(first).rejects.toMatchObject({ code: "unsupported" });
    }
    expect(asked).toHaveLength(1);
  });

  test.each([
    [json({ messages: "none" }), "bad_peer"],
    [json({ messages: [{ id: "m" }] }), "bad_peer"],
    [{ status: 401, headers: {}, body: "" }, "unauthenticated"],
    [{ status: 503, headers: {}, body: "" }, "unavailable"],
  ])("reports an answer that is no inbox: %j", async (answer, code) => {
    const { receive } = receiver([answer]);
    await expect(receive(startCall())[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code });
  });
});
