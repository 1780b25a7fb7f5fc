import { DEFAULT_LIMITS } from "../../../../src/internal.js";
import { MessageVerifier, newMessage, signMessage } from "../../../../src/protocols/sage/api/index.js";
import { createReplayGuard } from "../../../../src/public/auth.js";
import { createIdentity, type Resolver } from "../../../../src/public/identity.js";
import type { Measurement } from "../../../harness/result.js";
import { answerCommands } from "../../../harness/worker.js";
import { prose } from "../../codecs/workload.js";

/** Verifies the same batch again and again, each time with nothing accepted before. Answers with the times of one message. */

answerCommands({ run });

export interface BatchOrder {
  readonly threads: boolean;
  readonly sliceMs: number;
}

const [BATCH, BYTES] = [256, 300];
const author = createIdentity({ name: "author", did: `did:sage:local:0x${"a".repeat(40)}` });
const did = `did:sage:local:0x${"b".repeat(40)}`;
/** The record is at hand: what is measured are signatures. */
const document = {
  ...{ id: author.did, keys: author.keys(), services: [], deactivated: false, successor: undefined },
  bytes: new Uint8Array(),
};
const resolver: Resolver = { resolve: async () => ({ document, observedAt: Date.now() }), forget: () => undefined };
const messages = await Promise.all(
  Array.from({ length: BATCH }, (_, index) => signMessage(newMessage(`${prose(BYTES)}${index}`), did, author)),
);

async function run({ threads, sliceMs }: BatchOrder): Promise<Measurement> {
  let verified = 0;
  const from = process.cpuUsage();
  const startedAt = performance.now();
  while (verified === 0 || performance.now() - startedAt < sliceMs) {
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
    const threadsFrom = threads ? undefined : Number.POSITIVE_INFINITY;
    const results = await new MessageVerifier({ did, resolver, replay, threadsFrom }).verifyBatch(messages);
    for (const result of results) if (!result.ok) throw result.error;
    verified += results.length;
  }
  const { user, system } = process.cpuUsage(from);
  const wallMs = performance.now() - startedAt;
  return { cpuUs: (user + system) / verified, perSecond: (verified * 1_000) / wallMs };
}
