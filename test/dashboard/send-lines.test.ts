import { describe, expect, it } from "vitest";
import { sendLines } from "../../apps/dashboard/send-lines.js";
import { type HttpRequest, makeRequest } from "../../src/transport/index.js";

const message = { node: "echo", way: "toy@1/HTTP", text: "hello", stream: false };
const request = (): HttpRequest =>
  makeRequest({ method: "POST", url: "/koine/api/send", headers: {}, body: new TextEncoder().encode(JSON.stringify(message)) });

describe("messages of the page", () => {
  it("a reader that disconnects before the response starts occupies no slot", async () => {
    const send = sendLines(async function* () {
      yield { kind: "done" };
    });
    for (let count = 0; count < 20; count++) {
      const body = send(request()).body as AsyncGenerator<string, void, void>; // lines are always streamed
      await body.return();
    }
    const body = send(request()).body as AsyncGenerator<string, void, void>; // and so is this one
    expect(await body.next()).toEqual({ done: false, value: '{"event":{"kind":"done"}}\n' });
    await body.return();
  });
});
