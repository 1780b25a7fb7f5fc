import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkGateway, configFrom, type Gateway, openGateway } from "../../apps/gateway/index.js";
import { agent, connect, type Server, serve } from "../../src/index.js";
import { type Authority, makeAuthority } from "../certificates.js";
import { koine } from "../cli/koine.js";

let folder = "";
let authority: Authority;
let upstream: Server;
let gateway: Gateway | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-floor-"));
  authority = await makeAuthority();
  const pair = await authority.issue({ hosts: ["127.0.0.1"] });
  await Promise.all([
    writeFile(join(folder, "cert.pem"), pair.cert),
    writeFile(join(folder, "key.pem"), pair.key, { mode: 0o600 }),
    writeFile(join(folder, "ca.pem"), authority.ca),
  ]);
  upstream = await serve(agent({ name: "echo", description: "", handle: ({ text }) => `heard ${text}` }));
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await upstream.close();
  await rm(folder, { recursive: true, force: true });
});

const TLS = { cert: "cert.pem", key: "key.pem" };
const PUBLIC = "http://192.0.3.1:9";

function config(url: string, more: object = {}, agentMore: object = {}) {
  const document = {
    listen: { port: 0, tls: TLS },
    audit: "audit.log",
    agents: [{ name: "echo", upstream: url, ...agentMore }],
    ...more,
  };
  return configFrom(document, { folder, env: {} });
}

const OPENING = { upstream: "echo", lowers: ["encrypted"], reason: "the partner has no certificate yet", until: "2099-12-31" };

describe("a gateway with TLS in front of an upstream without", () => {
  it("says so at start, counts every call, shows it on the page and records it in the audit log", async () => {
    gateway = await openGateway(config(upstream.url));
    expect(gateway.warnings).toEqual([`echo at ${upstream.url} gets calls without encryption: the address is on this host`]);
    const peer = await connect(gateway.url, { credentials: { tls: { ca: authority.ca } } });
    for (const text of ["one", "two"]) expect(await peer.ask(text)).toBe(`heard ${text}`);
    await peer.close();
    const counters = (gateway.console.state() as { readonly counters: { readonly [name: string]: number } }).counters;
    expect(counters).toMatchObject({ lowered: 2, refused: 0 });
    await gateway.close();
    gateway = undefined;
    const entries = (await readFile(join(folder, "audit.log"), "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(entries.filter(({ event }) => event === "downgrade")).toMatchObject([
      { what: "a call without: encrypted", agent: "echo", reason: "the address is on this host" },
    ]);
  });

  it("lists each upstream that lowers the floor or will be refused", async () => {
    const outcomes = async (...given: Parameters<typeof config>) =>
      (await checkGateway(config(...given), false)).floor.map(({ outcome, requirement }) => `${outcome} ${requirement}`);
    expect(await outcomes("https://agents.example")).toEqual([]);
    expect(await outcomes(PUBLIC, { listen: { port: 0 } })).toEqual([]);
    expect(await outcomes("http://10.0.0.7")).toEqual(["lowered encrypted"]);
    expect(await outcomes("http://10.0.0.7", { clearText: "loopback" })).toEqual(["refused encrypted"]);
    expect(await outcomes("http://10.0.0.7", {}, { require: ["encrypted"] })).toEqual(["refused encrypted"]);
    expect(await outcomes("https://agents.example", {}, { require: ["end-to-end"] })).toEqual(["refused end-to-end"]);
    expect(await outcomes(PUBLIC)).toEqual(["refused encrypted"]);
    expect(await outcomes(PUBLIC, { openings: [OPENING] })).toEqual(["lowered encrypted"]);
    expect(await outcomes(PUBLIC, { openings: [{ ...OPENING, until: "2020-01-01" }] })).toEqual(["refused encrypted"]);
  });

  it("counts a protocol that seals only where the operator named the DID that the upstream must prove", async () => {
    const did = "did:wba:agents.example:desk:e1_Stob3FkxMTLKJ-JGx25X-dMJaA6yAQ4xepB8Kstsq04";
    const outcomes = async (url: string, pin: string, more: object = {}) =>
      (await checkGateway(config(url, more, { pin, require: ["end-to-end", "signed"] }), false)).floor.map(
        ({ outcome, requirement }) => `${outcome} ${requirement}`,
      );
    const refused = ["refused encrypted", "refused signed", "refused end-to-end"];
    // Whoever answers at the address may name a DID of its own.
    expect((await outcomes(PUBLIC, "anp@1.2/WS")).toSorted()).toEqual(refused.toSorted());
    expect(await outcomes(PUBLIC, "anp@1.2/WS", { settings: { anp: { peer: did } } })).toEqual([]);
    expect(await outcomes(did, "anp@1.2/WS")).toEqual([]);
    const registered = `did:sage:local:0x${"1".repeat(40)}`;
    expect((await outcomes(PUBLIC, "sage")).toSorted()).toEqual(refused.toSorted());
    expect(await outcomes(PUBLIC, "sage", { settings: { sage: { peer: registered } } })).toEqual([]);
    // Requests by HTTP are signed and not sealed, whoever the upstream is.
    expect((await outcomes(did, "anp@1.2/JSONRPC")).toSorted()).toEqual(["refused encrypted", "refused end-to-end"]);
  });

  it("says that an opening has ended", async () => {
    const ended = config("http://10.0.0.7", { openings: [{ ...OPENING, until: "2020-01-01" }] });
    expect((await checkGateway(ended, false)).warnings).toContain("the opening for echo ended on 2020-01-01: remove it");
  });

  it.each([
    [{ ...OPENING, upstream: "ecko" }, "openings[0].upstream is unknown; available: echo"],
    [{ ...OPENING, until: "soon" }, "openings[0].until must be a day such as 2026-12-31"],
    [{ ...OPENING, reason: "" }, "openings[0].reason"],
    [{ ...OPENING, lowers: ["all"] }, "openings[0].lowers[0]"],
  ])("rejects the opening %j", (opening, problem) => {
    expect(() => config(PUBLIC, { openings: [opening] })).toThrow(problem);
  });

  it("exits with 1 from --check where calls will be refused, and with 0 where they are only lowered", {
    timeout: 60_000,
  }, async () => {
    const file = join(folder, "koine.yaml");
    const text = (url: string): string =>
      `listen: { port: 0, tls: { cert: cert.pem, key: key.pem } }\nagents:\n  - { name: echo, upstream: "${url}" }\n`;
    await writeFile(file, text(PUBLIC));
    const refused = await koine(["gateway", file, "--check"]);
    expect(refused.stderr).toContain(`calls to echo at ${PUBLIC} are refused: the call must be encrypted`);
    expect(refused.code).toBe(1);
    await writeFile(file, text("http://10.0.0.7"));
    const lowered = await koine(["gateway", file, "--check"]);
    expect(lowered.stderr).toContain("echo at http://10.0.0.7 gets calls without encryption: the call arrived over TLS");
    expect(lowered.code).toBe(0);
  });

  it("exits with 1 from --check where calls of DIDs will be refused", { timeout: 60_000 }, async () => {
    const file = join(folder, "dids.yaml");
    const write = (upstream: string): Promise<void> =>
      writeFile(
        file,
        `listen: { port: 0 }\nauth: { dids: [did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp] }\nagents:\n  - { name: echo, upstream: "${upstream}" }\n`,
      );
    await write("http://127.0.0.1:9");
    const refused = await koine(["gateway", file, "--check"]);
    for (const missing of ["signed", "proves who it is"])
      expect(refused.stderr).toMatch(new RegExp(`calls of DIDs to echo at http://127.0.0.1:9 are refused: .*${missing}`));
    expect(refused.code).toBe(1);
  });
});
