import { afterEach, expect, test } from "vitest";
import type { CapturedMessage, Inspector } from "../../src/telemetry/capture/index.js";
import { createTelemetry } from "../../src/telemetry/index.js";
import { Watermark } from "../helpers/watermark.js";
import { newInspector } from "../inspect/served.js";
import { called, closeAll, directory, host, PIN, served } from "./peers.js";

/** What an inspector keeps of calls in sealed sessions, and of signed requests. */

afterEach(closeAll);

const ann = directory.create("ann");
const telemetryOf = (inspector: Inspector) => inspector.telemetry(createTelemetry({}));

async function seen({ log }: Inspector, text: string): Promise<CapturedMessage> {
  const find = (): CapturedMessage | undefined => {
    const [found] = log.list({ text }, 1);
    return found && log.get(found.id);
  };
  await expect.poll(() => find()?.response?.bytes ?? 0).toBeGreaterThan(0);
  return find() as CapturedMessage; // it existed a moment ago
}

test("the messages of a sealed call are kept as ciphertext, with the DIDs that both sides proved", async () => {
  const [there, here] = [newInspector(), newInspector()];
  const peer = await called(await served({ telemetry: telemetryOf(there) }), ann, { telemetry: telemetryOf(here) });
  const mark = new Watermark("the-cargo-list-of-the-Aurora");
  await peer.ask(mark.text);
  const [came, went] = [await seen(there, mark.text), await seen(here, mark.text)];
  for (const captured of [came, went]) {
    expect(captured.request).toMatchObject({ encoding: "base64", sealed: true, cut: false, signer: ann.did });
    expect(captured.response).toMatchObject({ encoding: "base64", sealed: true, cut: false, signer: host.did });
    for (const wire of [captured.request, captured.response]) {
      const bytes = Buffer.from(wire?.body ?? "", "base64");
      expect(bytes.length).toBe(wire?.bytes);
      expect([...mark.inText(bytes.toString("latin1")).forms]).toEqual([]);
    }
    // Each end of the session can read it: that is what an inspector there shows beside the wire.
    expect([...mark.inText(JSON.stringify(captured.envelope)).forms]).toEqual(["utf-8"]);
  }
  // The bytes at both ends are the same.
  expect(came.request?.body).toBe(went.request?.body);
  expect(came.response?.body).toBe(went.response?.body);
});

test("a signed request has its signer, and is no ciphertext", async () => {
  const there = newInspector();
  const peer = await called(await served({ telemetry: telemetryOf(there) }), ann, { pin: PIN.replace("WS", "JSONRPC") });
  await peer.ask("signed");
  const { request, response } = await seen(there, "signed");
  expect(request).toMatchObject({ signer: ann.did, encoding: "utf8" });
  expect(request?.sealed).toBeUndefined();
  // Nothing signs an answer by HTTP.
  expect(response?.signer).toBeUndefined();
});
