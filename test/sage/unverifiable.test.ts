import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, bridge, type ServeOptions, serve } from "../../src/index.js";
import { a2a } from "../../src/protocols/a2a/index.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { RefusalLog } from "../helpers/refusal-log.js";
import { capturedSend, type Sent } from "./captured.js";
import { PROTOCOLS, SageWorld, SETTINGS } from "./world.js";

/**
 * Messages that say in their body that they are signed or sealed, in plain requests to hosts that cannot verify them. Such a message is
 * refused by name, counted, and never handled as plain text.
 */

let world: SageWorld;
let ann: LocalIdentity;
let desk: LocalIdentity;
const handled: string[] = [];
const closing: (() => Promise<unknown>)[] = [];
const naive = agent({
  name: "naive",
  description: "believes what it reads",
  handle(message) {
    handled.push(message.text);
    return `did ${message.text}`;
  },
});

beforeEach(async () => {
  handled.length = 0;
  world = new SageWorld();
  ann = await world.register();
  ({ identity: desk } = await world.serve(naive));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await world.close();
});

interface PlainHost {
  readonly url: string;
  readonly log: RefusalLog;
}

/** A server without an identity of SAGE. */
async function plainHost(options: ServeOptions = {}, served = naive): Promise<PlainHost> {
  const log = new RefusalLog("a2a");
  const server = await serve(served, {
    ...{ protocols: PROTOCOLS, settings: SETTINGS, store: world.store, audit: log.audit, telemetry: log.telemetry },
    ...options,
  });
  closing.push(() => server.close());
  return { url: server.url, log };
}

/** The body alone, in a plain request: what is left when the headers of SAGE are removed. */
async function post({ body }: Pick<Sent, "body">, { url }: Pick<PlainHost, "url">) {
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const response = await fetch(`${url}/a2a`, { method: "POST", headers, body });
  const { result, error } = (await response.json()) as {
    result?: unknown;
    error?: { data?: { metadata?: { error?: string; koineCode?: string } }[] };
  };
  const { error: name, koineCode } = error?.data?.[0]?.metadata ?? {};
  return { answered: result !== undefined, name, koineCode };
}

const REFUSED = { answered: false, name: "ErrDowngradeRefused", koineCode: "downgrade_refused" };
const COUNTED = "downgrade_refused policy_denied";

function expectRefused({ log }: PlainHost, times: number): void {
  expect(handled).toEqual([]);
  expect(log.all()).toEqual(Array.from({ length: times }, () => COUNTED));
  log.expectMetered();
}

/** The message with its metadata changed. */
function changed({ body }: Sent, change: (message: { metadata: Record<string, unknown> }) => void): Pick<Sent, "body"> {
  const request = JSON.parse(body) as { params: { message: { metadata: Record<string, unknown> } } };
  change(request.params.message);
  return { body: JSON.stringify(request) };
}

const isKoine = (name: string): boolean => name.startsWith("urn:koine:sage:");

describe("a server without an identity of SAGE", () => {
  test("refuses a message that is signed or sealed", async () => {
    const host = await plainHost();
    expect(await post(await capturedSend(world, desk.did, ann), host)).toEqual(REFUSED);
    expect(await post(await capturedSend(world, desk.did, ann, { sealed: true }), host)).toEqual(REFUSED);
    expectRefused(host, 2);
  });

  test("refuses what is left of one: the member security alone, the signature alone, a member that cannot be read", async () => {
    const host = await plainHost();
    const sent = await capturedSend(world, desk.did, ann);
    const securityAlone = changed(sent, ({ metadata }) => {
      for (const name of Object.keys(metadata)) if (!isKoine(name)) delete metadata[name];
    });
    expect(securityAlone.body).toContain('"security"');
    expect(await post(securityAlone, host)).toEqual(REFUSED);
    const signatureAlone = changed(sent, ({ metadata }) => {
      for (const name of Object.keys(metadata)) if (isKoine(name)) delete metadata[name];
    });
    expect(signatureAlone.body).not.toContain('"security"');
    expect(await post(signatureAlone, host)).toEqual(REFUSED);
    const nonsense = changed(sent, (message) => {
      message.metadata = { "urn:koine:sage:1": "trust me" };
    });
    expect(await post(nonsense, host)).toEqual(REFUSED);
    expectRefused(host, 3);
  });

  test("refuses it also in a stream, and where SAGE is not served at all", async () => {
    const host = await plainHost({ protocols: [a2a] });
    const sent = await capturedSend(world, desk.did, ann);
    expect(await post(sent, host)).toEqual(REFUSED);
    const body = sent.body.replace('"SendMessage"', '"SendStreamingMessage"');
    const headers = { "content-type": "application/json", "a2a-version": "1.0", accept: "text/event-stream" };
    const streamed = await fetch(`${host.url}/a2a`, { method: "POST", headers, body });
    expect(await streamed.text()).toContain("ErrDowngradeRefused");
    expectRefused(host, 2);
  });

  test("handles messages without a mark", async () => {
    const host = await plainHost();
    const peer = await world.connect(host.url, ann, { pin: "a2a" });
    expect(await peer.ask("hello")).toBe("did hello");
    expect(host.log.all()).toEqual([]);
  });
});

describe("a gateway without SAGE", () => {
  async function gateway(settings: ServeOptions["settings"] = SETTINGS): Promise<PlainHost> {
    const behind = await plainHost();
    const bridged = await bridge(behind.url, { protocols: PROTOCOLS, pin: "a2a", bridge: { mode: "relay", name: "naive" } });
    closing.push(() => bridged.close());
    return plainHost({ settings }, bridged);
  }

  test("refuses a message that is signed or sealed", async () => {
    const host = await gateway();
    expect(await post(await capturedSend(world, desk.did, ann), host)).toEqual(REFUSED);
    expect(await post(await capturedSend(world, desk.did, ann, { sealed: true }), host)).toEqual(REFUSED);
    expectRefused(host, 2);
  });

  test("that passes on what is for others brings it to an agent that cannot verify it: refused there", async () => {
    const host = await gateway({ sage: { passOn: true } });
    expect(await post(await capturedSend(world, desk.did, ann), host)).toMatchObject({ answered: false });
    expect(handled).toEqual([]);
    expect(host.log.all()).toEqual([]);
  });
});

describe("a server with another identity", () => {
  test("refuses a message for somebody else, also in a plain request", async () => {
    const log = new RefusalLog("a2a");
    const other = await world.serve(naive, { audit: log.audit, telemetry: log.telemetry });
    expect(await post(await capturedSend(world, desk.did, ann), other)).toMatchObject({
      answered: false,
      name: "ErrInvalidSignature",
    });
    expect(handled).toEqual([]);
    expect(log.all()).toEqual(["bad_signature sig.binding"]);
    log.expectMetered();
  });
});
