import { randomBytes } from "node:crypto";
import { createServer, connect as dial } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { agent, serve } from "../../src/index.js";
import { boundIdentity, freePort } from "../anp/directory.js";
import { koine } from "../cli/koine.js";
import { Watermark } from "../helpers/watermark.js";

/** What somebody on the line sees of `koine send`, byte by byte, in both directions. */

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A TCP proxy that keeps every byte. */
async function recordingProxy(to: () => number): Promise<{ readonly port: number; recorded(): string }> {
  const chunks: Buffer[] = [];
  const port = await freePort();
  const server = createServer((client) => {
    const upstream = dial(to(), "127.0.0.1");
    client.on("data", (chunk) => chunks.push(chunk)).pipe(upstream);
    upstream.on("data", (chunk) => chunks.push(chunk)).pipe(client);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return { port, recorded: () => Buffer.concat(chunks).toString("latin1") };
}

const echo = agent({ name: "worker", description: "repeats", handle: (message) => `you said: ${message.text}` });

async function wiretapped(): Promise<{ did: string; url: string; recorded(): string }> {
  let to = 0;
  const { port, recorded } = await recordingProxy(() => to);
  const identity = boundIdentity(port, "worker");
  const server = await serve(echo, {
    identity,
    publicUrl: `http://localhost:${port}`,
    settings: { anp: { loopbackHttp: true } },
  });
  to = server.port;
  closing.push(() => server.close());
  return { did: identity.did, url: `http://localhost:${port}`, recorded };
}

describe("a capture of koine send", () => {
  const mark = new Watermark(`mark-${randomBytes(12).toString("hex")}`);

  test("to a did:wba does not contain what was said, while the same by A2A does", { timeout: 60_000 }, async () => {
    const sealed = await wiretapped();
    const sent = await koine(["send", sealed.did, mark.text, "--set", "anp.loopbackHttp=true"]);
    expect(sent.stderr).toBe("");
    expect(sent.stdout).toContain(`you said: ${mark.text}`);
    expect(sealed.recorded()).toContain("koine.anp.session.v1");
    expect([...mark.inText(sealed.recorded()).forms]).toEqual([]);

    const clear = await wiretapped();
    const said = await koine(["send", clear.url, mark.text, "--protocol", "a2a"]);
    expect(said.stdout).toContain(`you said: ${mark.text}`);
    expect([...mark.inText(clear.recorded()).forms]).toEqual(["utf-8"]);
  });
});
