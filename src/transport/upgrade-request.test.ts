import { describe, expect, test } from "vitest";
import { errorOf } from "../../test/helpers/sessions.js";
import { refusalBody, refusedUpgrade } from "./refused-upgrade.js";
import { httpForm, offeredSubprotocols, upgradeFields } from "./upgrade-request.js";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("upgrade requests", () => {
  test.each([
    ["ws://h/p?q", "http://h/p?q"],
    ["wss://h:1", "https://h:1"],
    ["WSS://h/", "https://h/"],
    ["http://h/ws://x", "http://h/ws://x"],
    ["https://h/a#b", "https://h/a"],
  ])("%s is %s", (target, form) => {
    expect(httpForm(target)).toBe(form);
  });

  test.each(["ftp://h", "//h", "h", "wsx://h"])("%s is not an address of a session", async (target) => {
    expect(await errorOf((async () => httpForm(target))())).toMatchObject({ code: "invalid_message", facts: { sent: "no" } });
  });

  test("fields of the hop, of the handshake and those that Connection names are not sent", () => {
    const headers = {
      Authorization: "a",
      connection: "keep-alive, X-Hop",
      "x-hop": "1",
      te: "trailers",
      upgrade: "h2c",
      "sec-websocket-key": "k",
      "sec-websocket-protocol": "p",
      "x-none": undefined,
      host: "h",
    };
    expect(upgradeFields(headers)).toEqual({ authorization: "a", host: "h" });
  });

  test.each([
    [undefined, []],
    ["a", ["a"]],
    ["a , b.c", ["a", "b.c"]],
    ["", undefined],
    ["a,,b", undefined],
    ["a, a", undefined],
    ['a"', undefined],
  ])("the subprotocols of %j are %j", (header, offered) => {
    expect(offeredSubprotocols({ "sec-websocket-protocol": header })).toEqual(offered);
  });
});

describe("refused upgrades", () => {
  test.each([
    ["text", "no entry", "h refused the session (HTTP 403): no entry"],
    ["an error of this package", '{"error":{"code":"E","message":"not you"}}', "h refused the session (HTTP 403): not you"],
    ["another JSON error", '{"message":"not you","error":"x"}', "h refused the session (HTTP 403): not you"],
    ["JSON without a message", '{"detail":1}', "h refused the session (HTTP 403)"],
    ["JSON that is cut", '{"message":"not', "h refused the session (HTTP 403)"],
    ["a page", "<!doctype html>", "h refused the session (HTTP 403)"],
    ["nothing", "", "h refused the session (HTTP 403)"],
  ])("the message of %s", (_, body, message) => {
    expect(refusedUpgrade("h", { status: 403, headers: {}, body: encode(body) }).message).toBe(message);
  });

  test("facts have only what the response had", () => {
    expect(refusedUpgrade("h", { status: 500, headers: {}, body: encode("") })).toMatchObject({ code: "internal" });
    expect(refusedUpgrade("h", { status: 500, headers: {}, body: encode("") }).facts).toEqual({ sent: "no", status: 500 });
  });

  test("a body is read up to 64 KiB", async () => {
    expect((await refusalBody("x".repeat(100_000))).length).toBe(65_536);
    expect((await refusalBody(undefined)).length).toBe(0);
    let pieces = 0;
    let stopped = false;
    const endless = (async function* () {
      try {
        for (;;) {
          pieces++;
          yield "x".repeat(1_000);
        }
      } finally {
        stopped = true;
      }
    })();
    expect((await refusalBody(endless)).length).toBe(65_000);
    expect([pieces, stopped]).toEqual([66, true]);
  });
});
