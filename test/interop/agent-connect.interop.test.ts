import { spawn } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, serve } from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import { didAllOf } from "../../src/protocols/anp/legacy-session/did-all.js";
import { createIdentity } from "../../src/security/identity/index.js";
import type { Link } from "../../src/transport/exchange.js";
import { freePort } from "../anp/directory.js";
import { tamperingLink } from "../secured-toy/tampering-link.js";
import { pythonFor, runScript } from "./python.js";

/** The encrypted session with the SDK of 2025, in both directions, each side in its own process. */

const environment = "agent-connect-0.3.5";
const available = pythonFor(environment) !== undefined;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The server of the SDK. Its lines after the first two say what it refused. */
async function started(): Promise<{ readonly url: string; readonly did: string; readonly lines: readonly string[] }> {
  const port = await freePort();
  const child = spawn(pythonFor(environment) ?? "", ["-u", "test/interop/python/agent_connect_server.py", String(port)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  closing.push(async () => {
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL"); // its web server would wait for sessions
    await ended;
  });
  let text = "";
  let problem = "";
  child.stderr.on("data", (chunk) => {
    problem += String(chunk);
  });
  child.stdout.on("data", (chunk) => {
    text += String(chunk);
  });
  const lines = (): string[] => text.split("\n").filter((line) => line !== "");
  await expect.poll(() => (child.exitCode === null ? lines().length : problem), { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
  return {
    url: `ws://127.0.0.1:${port}/ws`,
    did: lines()[1] ?? "",
    get lines() {
      return lines().slice(2);
    },
  };
}

/** One character of the ciphertext is another one. */
function altered(frame: string): string {
  return frame.replace(/"ciphertext":"(.)/, (_, first) => `"ciphertext":"${first === "A" ? "B" : "A"}`);
}

async function called(url: string, did: string, link?: Link) {
  const peer = await connect(url, {
    protocols: [anp],
    settings: { anp: { legacySession: true, peer: did } },
    discoveryCache: new DiscoveryCache(),
    ...(link === undefined ? {} : { link }),
  });
  closing.push(() => peer.close());
  return peer;
}

describe.skipIf(!available)("an agent of agent-connect 0.3.5", () => {
  test("is called through its encrypted session, and starts a message itself", async () => {
    const { url, did } = await started();
    const peer = await called(url, did);
    expect([peer.protocol, peer.version, peer.binding]).toEqual(["anp", "legacy", "WS"]);
    for (const text of ["one", "two", "três 🙂"])
      expect(await peer.ask(text)).toMatch(new RegExp(`^heard from did:all:[1-9A-Za-z]+: ${text}$`, "u"));
    const received = peer.receive()[Symbol.asyncIterator]();
    const first = received.next();
    await peer.ask("call back");
    expect((await first).value).toMatchObject({
      id: "own-1",
      src: did.split("@")[0],
      content: [{ text: "started by the peer" }],
    });
    await received.return?.();
  }, 60_000);

  test("refuses a message that was altered on its way, and one for another DID", async () => {
    const server = await started();
    const { url, did } = server;
    let isAltered = false;
    const link = tamperingLink((frame, _, send) => send(isAltered && frame.includes('"message"') ? altered(frame) : frame));
    const peer = await called(url, did, link);
    expect(await peer.ask("one")).toContain("heard");
    isAltered = true;
    const lost = peer.send("two", { signal: AbortSignal.timeout(3_000) }).catch((thrown: { code: string }) => thrown.code);
    await expect.poll(() => server.lines, { timeout: 20_000 }).toEqual(["refused"]);
    expect(await lost).toMatch(/cancelled|deadline/);
    const stranger = didAllOf(
      createIdentity({ name: "x", did: "key", kinds: ["P-256"] }).keys()[0]?.bytes ?? new Uint8Array(),
      undefined,
    );
    await expect((await called(url, stranger)).ask("three")).rejects.toMatchObject({ facts: { sent: "no" } });
  }, 60_000);
});

describe.skipIf(!available)("a caller of agent-connect 0.3.5", () => {
  test("opens a session, is answered in the form in which it asks, and is refused once a message is altered", async () => {
    const port = await freePort();
    const identity = createIdentity({ name: "who", did: `did:wba:localhost%3A${port}:who`, kinds: ["Ed25519", "P-256"] });
    const who = agent({
      name: "who",
      description: "says who called",
      handle: (message, task) => `${message.text} ${task.owner}`,
    });
    const server = await serve(who, {
      protocols: [anp],
      port,
      identity,
      publicUrl: `http://127.0.0.1:${port}`,
      settings: { anp: { legacySession: true } },
    });
    closing.push(() => server.close());
    const own = identity.keys().find(({ kind }) => kind === "P-256");
    const seen = await runScript(
      { environment, file: "agent_connect_client" },
      didAllOf(own?.bytes ?? new Uint8Array(), `127.0.0.1:${port}`),
    );
    const caller = String(seen["did"]).split("@")[0];
    expect(seen).toMatchObject({
      connected: true,
      json: { type: "anp_response", request_id: "r-1", payload: { content: { text: `who did:${caller}` } } },
      words: `plain words did:${caller}`,
      typed: [0x40, "r-2"],
      altered: "ConnectionError",
      closed: "message refused: altered",
    });
  }, 60_000);
});
