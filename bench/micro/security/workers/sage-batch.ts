import { DEFAULT_LIMITS } from "../../../../src/internal.js";
import { type Message, MessageVerifier, newMessage, signMessage } from "../../../../src/protocols/sage/api/index.js";
import { createReplayGuard } from "../../../../src/public/auth.js";
import { createIdentity, type Resolver } from "../../../../src/public/identity.js";
import type { Measurement } from "../../../harness/result.js";
import { orderOfRound } from "../../../harness/rounds.js";
import { answerCommands } from "../../../harness/worker.js";
import { prose } from "../../codecs/workload.js";
import { BATCH_CASES } from "../sage-cases.js";

/** Verifies the same batch again and again, each time with nothing accepted before. Answers with the times of one message. */

answerCommands({ run });

export interface BatchOrder {
  readonly size: number;
  /** Of each arm whether it uses threads. */
  readonly threads: readonly boolean[];
  /** For each arm. */
  readonly sliceMs: number;
}

const LARGEST = Math.max(...BATCH_CASES.map(({ size }) => size));
const BYTES = 300;
const author = createIdentity({ name: "author", did: `did:sage:local:0x${"a".repeat(40)}` });
const did = `did:sage:local:0x${"b".repeat(40)}`;
/** The record is at hand: what is measured are signatures. */
const document = {
  ...{ id: author.did, keys: author.keys(), services: [], deactivated: false, successor: undefined },
  bytes: new Uint8Array(),
};
const resolver: Resolver = { resolve: async () => ({ document, observedAt: Date.now() }), forget: () => undefined };
const messages = await Promise.all(
  Array.from({ length: LARGEST }, (_, index) => signMessage(newMessage(`${prose(BYTES)}${index}`), did, author)),
);

/** The arms in turns of one batch, each time in another order. */
async function run({ size, threads, sliceMs }: BatchOrder): Promise<readonly Measurement[]> {
  const batch = messages.slice(0, size);
  const arms = threads.map((withThreads) => ({ withThreads, cpuUs: 0, wallMs: 0, verified: 0 }));
  const until = performance.now() + sliceMs * arms.length;
  for (let turn = 0; turn === 0 || performance.now() < until; turn++)
    for (const arm of orderOfRound(arms, turn)) {
      const from = process.cpuUsage();
      const startedAt = performance.now();
      await verify(batch, arm.withThreads);
      arm.wallMs += performance.now() - startedAt;
      const { user, system } = process.cpuUsage(from);
      arm.cpuUs += user + system;
      arm.verified += batch.length;
    }
  return arms.map(({ cpuUs, wallMs, verified }) => ({ cpuUs: cpuUs / verified, perSecond: (verified * 1_000) / wallMs }));
}

async function verify(batch: readonly Message[], withThreads: boolean): Promise<void> {
  const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
  const threadsFrom = withThreads ? undefined : Number.POSITIVE_INFINITY;
  const results = await new MessageVerifier({ did, resolver, replay, threadsFrom }).verifyBatch(batch);
  for (const result of results) if (!result.ok) throw result.error;
}
