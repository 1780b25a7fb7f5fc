import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listenerInterfaces } from "../../apps/config/index.js";
import { agent, type Bridge, bridge, connect, type Loss, type Server, serve } from "../../src/index.js";
import { peerProgram } from "../../tools/peers.mjs";
import type { OfficialServer } from "../peers/official.js";
import { type Environment, pythonFor, runProgram, runScript, startProgram, startPython } from "./python.js";

/**
 * Agents and clients of other projects, without a model: google-adk, Pydantic AI (FastA2A), a2a-go and the Rust SDK. Each is called, and
 * most call, directly and through a gateway. The clients print what they saw.
 */

interface PeerUnderTest {
  readonly name: string;
  readonly available: boolean;
  start(): Promise<OfficialServer>;
  /** Absent: its client is not tested. */
  readonly call: ((url: string) => Promise<{ readonly [check: string]: unknown }>) | undefined;
  /** What is reported about its answer to a plain send. */
  readonly reported: readonly string[];
}

function python(
  name: string,
  environment: Environment,
  file: string,
): Pick<PeerUnderTest, "name" | "available" | "start" | "call"> {
  return {
    name,
    available: pythonFor(environment) !== undefined,
    start: () => startPython({ environment, file: `${file}_server` }),
    call: (url) => runScript({ environment, file: `${file}_client` }, url),
  };
}

function compiled(name: string, language: "go" | "rust"): Pick<PeerUnderTest, "name" | "available" | "start" | "call"> {
  const program = peerProgram(language);
  return {
    name,
    available: existsSync(program),
    start: () => startProgram(spawn(program, ["serve"])),
    call: (url) => runProgram(spawn(program, ["call", url])),
  };
}

const PEERS: readonly PeerUnderTest[] = [
  { ...python("google-adk 2.13.0", "google-adk-2.13.0", "adk"), reported: [] },
  {
    ...python("Pydantic AI 2.66.0 (FastA2A 2.1.1)", "pydantic-ai-2.66.0", "pydantic_ai"),
    // Its client writes the methods of 0.3 with the parts of 1.0: no kind, which is refused here.
    call: undefined,
    reported: ["task.status.timestamp"],
  },
  { ...compiled("a2a-go 2.4.0", "go"), reported: [] },
  { ...compiled("a2a-server-lf 0.5.3, Rust", "rust"), reported: [] },
];

// google-adk refuses cards with addresses that are no http URLs.
const protocols = listenerInterfaces(undefined, false);

describe.each(PEERS.filter(({ available }) => available))("$name", (peer) => {
  let official: OfficialServer;
  let bridged: Bridge;
  let gateway: Server;
  beforeAll(async () => {
    official = await peer.start();
    bridged = await bridge(official.url);
    gateway = await serve(bridged, { port: 0, protocols });
  });
  afterAll(async () => {
    await gateway?.close();
    await bridged?.close();
    await official?.close();
  });

  const at = { directly: () => official.url, "through a gateway": () => gateway.url };

  test.each(Object.entries(at))("is called %s: send and stream", async (_, url) => {
    const remote = await connect(url());
    const answer = await remote.ask("hello");
    let streamed = "";
    for await (const event of remote.stream("again")) {
      if (event.kind === "artifact")
        streamed += event.artifact.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
      if (event.kind === "message")
        streamed += event.message.content.map((part) => (part.kind === "text" ? part.text : "")).join("");
    }
    await remote.close();
    expect(answer).toBe("you said: hello");
    expect(streamed).toContain("you said: again");
  });

  test("what is tolerated in its answers is reported", async () => {
    const losses: Loss[] = [];
    const remote = await connect(official.url, { onLoss: (loss) => losses.push(loss) });
    await remote.send("hello");
    await remote.close();
    expect([...new Set(losses.map(({ path }) => path))]).toEqual(peer.reported);
  });

  const { call } = peer;
  if (call === undefined) return;
  test("calls an agent directly", async () => {
    const koine = agent({
      name: "koine",
      description: "answers with its question",
      async *handle(message, task) {
        yield task.working("reading");
        return `you said: ${message.text}`;
      },
    });
    const server = await serve(koine, { port: 0, protocols });
    const got = await call(server.url).finally(() => server.close());
    expect(got["send"]).toBe("you said: hello");
  });

  test("calls itself through a gateway", async () => {
    expect((await call(gateway.url))["send"]).toBe("you said: hello");
  });
});
