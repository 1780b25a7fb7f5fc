import { availableParallelism } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Maybe } from "../../envelope/index.js";
import { verifyBase } from "./algorithms.js";
import { type Ed25519Signature, RECORDS, SharedRound } from "./shared-round.js";
import { VerificationThread } from "./verification-thread.js";

/** Threads beside the one of the caller, which also prepares what they verify: more would wait for it. */
const MAX_THREADS = 3;
/** Signatures after which other events of the process have their turn. */
const PER_TURN = 16;

/**
 * Whether each signature is valid, in their order. With threads, they begin while the signatures are still being made, and this thread
 * verifies what they leave.
 */
export async function verifyMany(signatures: Iterable<Ed25519Signature>, withThreads: boolean): Promise<readonly boolean[]> {
  threads ??= withThreads ? startThreads() : undefined;
  if (withThreads && threads?.isFree === true) return threads.verify(signatures);
  const results: boolean[] = [];
  for (const each of signatures) {
    results.push(isValid(each));
    if (results.length % PER_TURN === 0) await nextTurn();
  }
  return results;
}

function isValid({ key, base, signature }: Ed25519Signature): boolean {
  return verifyBase("ed25519", key, base, signature);
}

/** Those of this process, from the first batch on that is large enough. */
let threads: Maybe<VerificationThreads>;

function startThreads(): VerificationThreads {
  return new VerificationThreads(Math.min(MAX_THREADS, availableParallelism() - 1));
}

/** Serves one batch at a time: a second one has no core that is free. */
class VerificationThreads {
  readonly #round = new SharedRound();
  readonly #threads: readonly VerificationThread[];
  #isFree = true;

  constructor(count: number) {
    this.#threads = Array.from({ length: count }, () => this.#started()).filter((thread) => thread !== undefined);
  }

  /** A process may not be allowed to have threads: then it verifies by itself. */
  #started(): Maybe<VerificationThread> {
    try {
      return new VerificationThread(this.#round);
    } catch {
      return undefined;
    }
  }

  get isFree(): boolean {
    return this.#isFree && this.#threads.some(({ isReady }) => isReady);
  }

  async verify(signatures: Iterable<Ed25519Signature>): Promise<readonly boolean[]> {
    this.#isFree = false;
    try {
      const results: boolean[] = [];
      const from = signatures[Symbol.iterator]();
      for (let first = from.next(); first.done !== true; ) {
        const { verified, next } = await this.#verifyRound(first.value, from);
        results.push(...verified);
        first = next;
      }
      return results;
    } finally {
      this.#isFree = true;
    }
  }

  /** As many as there is room for. */
  async #verifyRound(
    first: Ed25519Signature,
    from: Iterator<Ed25519Signature>,
  ): Promise<{ readonly verified: readonly boolean[]; readonly next: IteratorResult<Ed25519Signature> }> {
    const round = this.#round;
    round.begin();
    const joined = Promise.all(this.#threads.filter(({ isReady }) => isReady).map((thread) => thread.join()));
    const published: Ed25519Signature[] = [];
    let next: IteratorResult<Ed25519Signature> = { value: first };
    try {
      for (; next.done !== true && round.publish(next.value); next = from.next()) {
        published.push(next.value);
        if (published.length % PER_TURN === 0) await nextTurn();
      }
      round.close();
      await this.#takePart(published);
    } finally {
      // Whatever happened: nobody is in the round when the next one begins.
      round.close();
      await joined;
    }
    // Also what a thread claimed that ended meanwhile.
    const verified = published.map((each, index) => round.result(index) ?? isValid(each));
    if (published.length > 0 || next.done === true) return { verified, next };
    // Larger than a round.
    return { verified: [isValid(next.value)], next: from.next() };
  }

  async #takePart(published: readonly Ed25519Signature[]): Promise<void> {
    const round = this.#round;
    for (let index = round.claim(), taken = 1; index !== undefined; index = round.claim(), taken++) {
      const each = published[index];
      if (each === undefined) throw new Error("a claimed record was published");
      Atomics.store(round.results, index, isValid(each) ? RECORDS.VALID : RECORDS.INVALID);
      if (taken % PER_TURN === 0) await nextTurn();
    }
  }
}
