import type { Worker } from "node:worker_threads";
import { lazyModule } from "../../transport/node/lazy-module.js";
import { RECORDS, type SharedRound } from "./shared-round.js";

const workerThreads = lazyModule<typeof import("node:worker_threads")>("node:worker_threads");

/** The DER form of an Ed25519 public key is this and its 32 bytes (RFC 8410). */
const SPKI_PREFIX = "302a300506032b6570032100";
/** Keys that a thread keeps from round to round. */
const MAX_KEYS = 1_000;

/**
 * What a thread runs: each message says that a round has begun. Inline, because a bundle has no file of its own for it. It reads
 * records that the owner has published, verifies those that it claims, and waits for more until the round is closed.
 */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { createPublicKey, verify } = require("node:crypto");
const { control, places, results, bytes } = workerData.round;
const { CLAIMED, PUBLISHED, CLOSED, KEY_BYTES, SIGNATURE_BYTES, VALID, INVALID } = workerData.records;
const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const keys = new Map();
parentPort.on("message", () => {
  for (let index = Atomics.add(control, CLAIMED, 1); isPublished(index); index = Atomics.add(control, CLAIMED, 1)) check(index);
  parentPort.postMessage("done");
});
parentPort.postMessage("ready");

function isPublished(index) {
  for (;;) {
    const published = Atomics.load(control, PUBLISHED);
    if (index < (published & ~CLOSED)) return true;
    if ((published & CLOSED) !== 0) return false;
    Atomics.wait(control, PUBLISHED, published);
  }
}

function check(index) {
  const [from, end] = [places[2 * index], places[2 * index + 1]];
  const [signatureAt, baseAt] = [from + KEY_BYTES, from + KEY_BYTES + SIGNATURE_BYTES];
  const isValid =
    end >= baseAt && verify(null, data.subarray(baseAt, end), keyOf(data.latin1Slice(from, signatureAt)), data.subarray(signatureAt, baseAt));
  Atomics.store(results, index, isValid ? VALID : INVALID);
}

function keyOf(raw) {
  const known = keys.get(raw);
  if (known !== undefined) return known;
  if (keys.size >= ${MAX_KEYS}) keys.clear();
  const der = Buffer.concat([Buffer.from("${SPKI_PREFIX}", "hex"), Buffer.from(raw, "latin1")]);
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  keys.set(raw, key);
  return key;
}
`;

/** One thread that verifies signatures of rounds. It does not keep the process alive, except during a round. */
export class VerificationThread {
  readonly #worker: Worker;
  #state: "starting" | "ready" | "working" | "ended" = "starting";
  #done: () => void = () => undefined;

  constructor(round: SharedRound) {
    // Without the options of the process: loaders and hooks are for its own code.
    const limits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };
    const start = { eval: true, execArgv: [], env: {}, name: "koine signatures", resourceLimits: limits };
    this.#worker = new (workerThreads().Worker)(PROGRAM, { ...start, workerData: { round, records: RECORDS } });
    this.#worker.unref();
    this.#worker.on("message", () => this.#become("ready"));
    // Its records are verified by the owner of the round.
    this.#worker.on("error", () => this.#become("ended"));
    this.#worker.on("exit", () => this.#become("ended"));
  }

  get isReady(): boolean {
    return this.#state === "ready";
  }

  /** Takes part in the round until it is closed and all of its records are claimed. Resolves then, or when the thread ends. */
  join(): Promise<void> {
    this.#state = "working";
    this.#worker.ref();
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#worker.postMessage("round");
    });
  }

  #become(state: "ready" | "ended"): void {
    if (this.#state === "ended") return;
    this.#state = state;
    this.#worker.unref();
    this.#done();
  }
}
