import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agent, type Bridge, bridge, connect, type Loss, type Server, serve } from "../../src/index.js";
import { peerProgram } from "../../tools/peers.mjs";
import type { OfficialServer } from "../peers/official.js";
import { expectedRows, type PeerRow, writeRows } from "./peer-table.js";
import { type Check, koineCalls, verdictsOf, type Walk } from "./peer-walks.js";
import { type Environment, pythonFor, runProgram, runScript, startProgram, startPython } from "./python.js";

/**
 * Agents and clients of other projects, without a model: google-adk, Pydantic AI (FastA2A), a2a-go and the Rust SDK. Each is called and
 * calls, directly and through a gateway, over every binding it has. The results are compared with `peers.json`, which docs/peers.md
 * shows.
 */

interface PeerUnderTest {
  readonly name: string;
  readonly available: boolean;
  readonly bindings: readonly string[];
  start(): Promise<OfficialServer>;
  call(url: string, binding: string): Promise<Walk>;
  /** Operations that its server does not have. */
  readonly without: readonly Check[];
  /** What is reported about its answer to a plain send. */
  readonly reported: readonly string[];
  /** Settings of the agent that it calls. */
  readonly settings?: { readonly [name: string]: string };
}

function python(
  name: string,
  environment: Environment,
  file: string,
): Pick<PeerUnderTest, "name" | "available" | "start" | "call" | "bindings"> {
  return {
    name,
    available: pythonFor(environment) !== undefined,
    bindings: ["JSONRPC"],
    start: () => startPython({ environment, file: `${file}_server` }),
    call: (url, binding) => runScript({ environment, file: `${file}_client` }, url, binding),
  };
}

function compiled(
  name: string,
  language: "go" | "rust",
): Pick<PeerUnderTest, "name" | "available" | "start" | "call" | "bindings"> {
  const program = peerProgram(language);
  return {
    name,
    available: existsSync(program),
    bindings: ["JSONRPC", "HTTP+JSON", "GRPC"],
    start: () => startProgram(spawn(program, ["serve"])),
    call: (url, binding) => runProgram(spawn(program, ["call", url, binding])),
  };
}

const PEERS: readonly PeerUnderTest[] = [
  {
    ...python("google-adk 2.13.0", "google-adk-2.13.0", "adk"),
    without: [],
    reported: [],
    // It refuses cards with addresses that are no http URLs.
    settings: { grpcAddress: "url", legacyGrpcAddress: "url" },
  },
  {
    ...python("Pydantic AI 2.66.0 (FastA2A 2.1.1)", "pydantic-ai-2.66.0", "pydantic_ai"),
    // Its worker runs one task at a time and takes a cancellation after it: each check would wait for the work to end.
    without: ["cancel", "subscribe", "push"],
    reported: ["task.status.timestamp"],
  },
  { ...compiled("a2a-go 2.4.0", "go"), without: [], reported: [] },
  { ...compiled("a2a-rs 0.5.3, Rust", "rust"), without: [], reported: [] },
];

const koine = agent({
  name: "koine",
  description: "answers with its question",
  async *handle(message, task) {
    yield task.working("reading");
    if (message.text === "wait") await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
    yield task.artifact(`you said: ${message.text}`);
    return task.complete();
  },
});

/** A walk of one peer may wait for several time limits of its SDK. */
const WALK_MS = 120_000;
const tested = PEERS.filter(({ available }) => available);
const rows: PeerRow[] = [];
afterAll(() => writeRows(rows));

describe.each(tested)("$name", (peer) => {
  const settings = { a2a: { ...peer.settings } };
  let official: OfficialServer;
  let own: Server;
  let bridged: Bridge;
  let gateway: Server;
  let ownBridged: Bridge;
  let ownGateway: Server;
  beforeAll(async () => {
    [official, own] = await Promise.all([peer.start(), serve(koine, { port: 0, settings })]);
    [bridged, ownBridged] = await Promise.all([bridge(official.url), bridge(own.url)]);
    gateway = await serve(bridged, { port: 0, settings });
    ownGateway = await serve(ownBridged, { port: 0, settings });
  });
  afterAll(async () => {
    await Promise.all([gateway?.close(), ownGateway?.close()]);
    await Promise.all([bridged?.close(), ownBridged?.close()]);
    await Promise.all([official?.close(), own?.close()]);
  });

  const found = (row: Omit<PeerRow, "checks">, walk: Walk): void => {
    const made: PeerRow = { ...row, checks: verdictsOf(walk) };
    rows.push(made);
    expect(made).toEqual(expectedRows().find(({ peer: name, way, binding }) => `${name} ${way} ${binding}` === keyOf(made)));
  };
  const keyOf = ({ peer: name, way, binding }: PeerRow): string => `${name} ${way} ${binding}`;

  for (const binding of peer.bindings) {
    test(`is called over ${binding}`, { timeout: WALK_MS }, async () => {
      const walk = await koineCalls(official.url, `a2a@1.0/${binding}`, peer.without);
      found({ peer: peer.name, way: "called directly", binding }, walk);
    });

    test(`calls an agent over ${binding}`, { timeout: WALK_MS }, async () => {
      found({ peer: peer.name, way: "calls directly", binding }, await peer.call(own.url, binding));
    });

    test(`calls an agent behind a gateway over ${binding}`, { timeout: WALK_MS }, async () => {
      found({ peer: peer.name, way: "calls through a gateway", binding }, await peer.call(ownGateway.url, binding));
    });

    test(`calls itself behind a gateway over ${binding}`, { timeout: WALK_MS }, async () => {
      found({ peer: peer.name, way: "calls itself through a gateway", binding }, await peer.call(gateway.url, binding));
    });
  }

  test("is called through a gateway", { timeout: WALK_MS }, async () => {
    const walk = await koineCalls(gateway.url, "a2a@1.0/JSONRPC", peer.without);
    found({ peer: peer.name, way: "called through a gateway", binding: "JSONRPC" }, walk);
  });

  test("what is tolerated in its answers is reported", async () => {
    const losses: Loss[] = [];
    const remote = await connect(official.url, { onLoss: (loss) => losses.push(loss) });
    await remote.send("hello");
    await remote.close();
    expect([...new Set(losses.map(({ path }) => path))]).toEqual(peer.reported);
  });
});
