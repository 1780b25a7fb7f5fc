import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Subject } from "../../conformance/index.js";
import { httpExchange, runThrough } from "../../conformance/index.js";
import { bridge, DiscoveryCache, serve } from "../../src/index.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { koine, koineAlone } from "../cli/koine.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { startKoine } from "../peers/koine.js";
import { startOfficial03 } from "../peers/official-0.3.js";
import { startOfficial13 } from "../peers/official-1.3.js";

/** Regressions of the gateway: every requirement of every protocol, directly and through it. */

const TIMEOUT_MS = 240_000;
const push = { allow: ["127.0.0.1"] };

/** Known differences through a gateway. A fixed one must be removed from the list. */
const KNOWN: readonly { readonly ids: RegExp; readonly why: string }[] = [
  { ids: /:extended-card(:gate)?$/, why: "an extended card that is not offered is asked for a credential before it is refused" },
  { ids: /:grpc:(deadline|given-up)$/, why: "the task of a send that is waited for exists with the first word of the agent" },
];
/** Commands that the official executors under test do not implement, although their cards promise all commands. */
const OFFICIAL: typeof KNOWN = [
  { ids: /^acp:.*:await:authorization$/, why: "they have no command to ask for authorization" },
  {
    ids: /^acp:.*:resume:(async|stream)$/,
    why: "they begin the stream of a later turn without the task, and their SDK refuses that",
  },
  { ids: /^acp:.*:parts:type-kept$/, why: "0.3 has a media type on files only" },
];

function subjectAt(url: string): Subject {
  return { url, exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID() };
}

async function brokenBefore(url: string, among: readonly Protocol[], known: typeof KNOWN): Promise<readonly string[]> {
  const bridged = await bridge(url, { discoveryCache: new DiscoveryCache() });
  const gateway = await serve(bridged, { push });
  try {
    const report = await runThrough(
      { subject: subjectAt(url), protocols: among },
      { subject: subjectAt(gateway.url), protocols },
      { timeoutMs: 5_000 },
    );
    expect(report.through.counts.met).toBeGreaterThan(700);
    return report.broken
      .filter(({ id }) => !known.some(({ ids }) => ids.test(id)))
      .map(({ id, metBy, detail }) => `${id} (met by the ${metBy}): ${detail}`);
  } finally {
    await gateway.close();
    await bridged.close();
  }
}

describe("a gateway with our own agent as upstream", () => {
  test.each(openProtocols.map((protocol) => ({ id: protocol.id, protocol })))(
    "over $id breaks no requirement",
    { timeout: TIMEOUT_MS },
    async ({ protocol }) => {
      // Every context that a check opens at the listener is a conversation upstream, and some wires keep few at a time.
      const settings = { [protocol.id]: roomFor(protocol) };
      const server = await startKoine({ push, protocols: [protocol], settings });
      expect(await brokenBefore(server.url, [protocol], KNOWN)).toEqual([]);
      await server.close();
    },
  );

  test("is checked on the command line too, with its exit code", { timeout: TIMEOUT_MS }, async () => {
    const server = await startKoine({ push });
    const bridged = await bridge(server.url, { discoveryCache: new DiscoveryCache() });
    const gateway = await serve(bridged, { push });
    const [kept, other] = [":card:", ":1.0:jsonrpc:send:"].map((part) => protocols[0]?.id + part);
    const good = await koine([
      "conform",
      server.url,
      "--through",
      gateway.url,
      "--only",
      kept ?? "",
      "--only",
      other ?? "",
      "-o",
      "json",
    ]);
    expect([good.code, JSON.parse(good.stdout)]).toMatchObject([0, { schema: 1, gateway: gateway.url, broken: [], holds: true }]);
    const text = await koine(["conform", server.url, "--through", gateway.url, "--only", kept ?? ""]);
    expect(text.stdout).toMatch(/\n0 broken by the gateway, \d+ not offered by it, \d+ met only through it\n$/);
    await gateway.close();
    await bridged.close();
    // Nothing listens there any more, which is not a result about the agent. The process of the commands before remembers the gateway.
    const gone = await koineAlone(["conform", server.url, "--through", gateway.url, "--only", kept ?? ""]);
    expect(gone.code).toBe(3);
    await server.close();
  });

  test("a gateway token without a gateway is a usage error", async () => {
    const wrong = await koine(["conform", "http://127.0.0.1:1", "--through-token-env", "X"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--through-token-env")]);
  });
});

describe("a gateway with official servers as upstream", () => {
  // The SDKs print every refusal they send.
  beforeAll(() => {
    for (const level of ["error", "warn", "info", "log"] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
  });
  afterAll(() => void vi.restoreAllMocks());
  const [official] = protocols.filter(({ versions }) => versions.includes("0.3") && versions.includes("1.0"));

  test.each([
    { name: "@a2a-js/sdk 1.3.0", start: () => startOfficial13({ push: true }) },
    { name: "@a2a-js/sdk 0.3.14", start: startOfficial03 },
  ])("$name: breaks no requirement", { timeout: TIMEOUT_MS }, async ({ start }) => {
    const server = await start();
    expect(await brokenBefore(server.url, official === undefined ? [] : [official], [...KNOWN, ...OFFICIAL])).toEqual([]);
    await server.close();
  });
});

/** The setting of a protocol that limits its conversations, if it has one. */
function roomFor({ settings = [] }: Protocol): { readonly [name: string]: number } {
  const names = settings.filter(({ name }) => /conversations/i.test(name)).map(({ name }) => name);
  return Object.fromEntries(names.map((name) => [name, 10_000]));
}
