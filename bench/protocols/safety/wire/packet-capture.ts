import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { listenLocally } from "../controls/http.js";
import { sendBytes } from "../probes/raw-request.js";
import { tcpStreams } from "./pcap.js";
import type { Tap } from "./tap.js";

/** Bytes of packets that are kept; a capture that grows further is given up. */
const MOST_BYTES = 256 * 1024 * 1024;
const START_MS = 10_000;
const FLUSH_MS = 10_000;
/** A byte between streams: nothing is found across two of them. */
const GAP = Buffer.alloc(1);

/** What was on the network while something was done. */
export interface Sniffed {
  /** `packets`: by tcpdump on the loopback interface. `tap`: by the proxies in the path, where that is not permitted. */
  readonly by: "packets" | "tap";
  /** Why no packets were captured. */
  readonly because?: string | undefined;
  /** The streams of all connections, one after the other. */
  readonly bytes: Buffer;
}

/** Captures what passes these taps while the work is done. */
export async function sniff(taps: readonly Tap[], work: () => Promise<void>): Promise<Sniffed> {
  for (const tap of taps) tap.clear();
  const capture = await openCapture(taps.map(({ port }) => port));
  if ("because" in capture) {
    await work();
    const recorded = taps.flatMap((tap) => tap.recorded());
    return { by: "tap", because: capture.because, bytes: separated(recorded.flatMap((each) => [each.toServer, each.toClient])) };
  }
  try {
    await work();
  } catch (thrown) {
    capture.abort();
    throw thrown;
  }
  return { by: "packets", bytes: separated(await capture.close()) };
}

function separated(streams: readonly Buffer[]): Buffer {
  return Buffer.concat(streams.flatMap((each) => [each, GAP]));
}

interface Capture {
  /** The streams of everything that was sent before this call. */
  close(): Promise<readonly Buffer[]>;
  abort(): void;
}

/** Starts tcpdump for these ports. It is not there, or may not capture: the reason. */
async function openCapture(ports: readonly number[]): Promise<Capture | { readonly because: string }> {
  const last = randomBytes(16);
  // Packets come in their order: when this one has come, all before it have.
  const sentinel = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end());
  });
  const sentinelPort = await listenLocally(sentinel);
  const filter = `tcp and (${[...ports, sentinelPort].map((port) => `port ${port}`).join(" or ")})`;
  const child = spawn("tcpdump", ["-i", "lo", "-n", "-U", "-s", "0", "--immediate-mode", "-B", "16384", "-w", "-", filter], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const pieces: Buffer[] = [];
  let [bytes, said, seen] = [0, "", false];
  const abort = (): void => {
    child.kill("SIGKILL");
    sentinel.close();
  };
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      said += error.message;
      resolve();
    });
    child.once("close", () => resolve());
  });
  let whole: () => void = () => undefined;
  const flushed = new Promise<void>((resolve) => {
    whole = resolve;
  });
  let tail: Buffer = GAP;
  child.stdout.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MOST_BYTES) return abort();
    pieces.push(piece);
    seen ||= Buffer.concat([tail, piece]).includes(last);
    tail = piece.subarray(-last.length);
    if (seen) whole();
  });
  const listening = new Promise<boolean>((resolve) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-2_000);
      if (said.includes("listening on")) resolve(true);
    });
    void ended.then(() => resolve(false));
    setTimeout(resolve, START_MS, false).unref();
  });
  if (!(await listening)) {
    abort();
    const reason = said.trim().split("\n").at(-1) ?? "";
    return { because: `tcpdump cannot capture here: ${reason || "it does not start"}` };
  }
  return {
    abort,
    async close() {
      await sendBytes(sentinelPort, last);
      await Promise.race([flushed, ended, new Promise((resolve) => setTimeout(resolve, FLUSH_MS).unref())]);
      child.kill("SIGINT");
      await ended;
      sentinel.close();
      if (!seen) throw new Error("the capture of packets is not whole");
      return tcpStreams(Buffer.concat(pieces)).filter((stream) => !stream.equals(last));
    },
  };
}
