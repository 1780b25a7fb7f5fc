import {
  AgentError,
  type Call,
  CancelSource,
  floorName,
  type Handler,
  type Layer,
  type Maybe,
  type Operation,
  type OperationOf,
  type Part,
  RecentMap,
  type Reply,
  requestDigest,
} from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { deadline } from "../deadline.js";
import { noteFor, type PolicyContext } from "../notes.js";
import { overloadedError } from "../queue-errors.js";
import { deferredReply } from "../replies/deferred-reply.js";
import { onlyEvent, replyOf, wantsStream } from "../replies/shape.js";
import { type AnswerReader, SharedAnswer, type SharedAnswerLimits, tooLong } from "./shared-answer.js";

/** Options of `requestCache`. */
export interface RequestCacheOptions extends PolicyContext {
  /** The time source. */
  readonly clock: Clock;
  /** The cache key of a request. Default: a digest of the agent and the content, independent of member order. */
  readonly digest?: Maybe<(agent: string, content: readonly Part[]) => Promise<string>>;
  /** Answers kept. Default: 256. */
  readonly entries?: Maybe<number>;
  /** Concurrent requests with a key. Default: 10,000. */
  readonly underWay?: Maybe<number>;
  /** How long an answer is kept. Default: 10 minutes. */
  readonly keepMs?: Maybe<number>;
  /** Events kept of one answer. Default: 1,000. */
  readonly eventsPerEntry?: Maybe<number>;
  /** Content bytes kept of one answer, measured before the event that exceeds them. Default: 1 MiB. */
  readonly bytesPerEntry?: Maybe<number>;
  /** True if the peer deduplicates by idempotency key: it is asked again for an answer too long to cache. */
  idempotentSend?(): boolean;
}

const ENTRIES = 256;
const UNDER_WAY = 10_000;
const KEEP_MS = 600_000;
const EVENTS_PER_ENTRY = 1_000;
const BYTES_PER_ENTRY = 1024 * 1024;

/**
 * Makes the same request once. Requests with the same owner, agent, idempotency key, required security and content share one call: while it is
 * in flight the second joins it from the beginning; afterwards the answer is cached. The same key for another request is a
 * `conflict`. Errors are not cached, and other operations pass. A shared call lives as long as it has a reader, within the
 * deadline of the first; each reader's own cancel and deadline end its own wait.
 */
export function requestCache(options: RequestCacheOptions): Layer {
  const { clock, digest: digestOf = requestDigest } = options;
  return (next) => {
    const cache = new RequestCache(options, next);
    // Only the reader's own deadline and cancel limit its wait; there is no other limit here.
    const withReaderDeadline = deadline(Number.POSITIVE_INFINITY, clock);
    return function cached(operation, call) {
      if (!isKeyed(operation)) return next(operation, call);
      const deferred = deferredReply(operation, () => undefined);
      digestOf(call.agent, operation.envelope.content).then(
        (digest) =>
          deferred.begin(() =>
            withReaderDeadline((_same, raced) => cache.answer({ operation, call, digest }, raced))(operation, call),
          ),
        deferred.fail.bind(deferred),
      );
      return deferred.reply;
    };
  };
}

type Send = OperationOf<"send">;

interface KeyedRequest {
  readonly operation: Send;
  readonly call: Call;
  readonly digest: string;
}

interface Entry {
  readonly answer: SharedAnswer;
  /** The request, apart from its key. */
  readonly request: string;
  endedMs: Maybe<number>;
}

/** A resumed stream (`after`) is not a new request. */
function isKeyed(operation: Operation): operation is Send {
  return operation.kind === "send" && operation.envelope.context.idempotencyKey !== undefined && operation.after === undefined;
}

class RequestCache {
  readonly #options: RequestCacheOptions;
  readonly #next: Handler;
  readonly #limits: SharedAnswerLimits;
  readonly #note: ReturnType<typeof noteFor>;
  readonly #underWay = new Map<string, Entry>();
  readonly #kept: RecentMap<Entry>;

  constructor(options: RequestCacheOptions, next: Handler) {
    this.#options = options;
    this.#next = next;
    this.#note = noteFor(options);
    this.#kept = new RecentMap(options.entries ?? ENTRIES);
    const { eventsPerEntry = EVENTS_PER_ENTRY, bytesPerEntry = BYTES_PER_ENTRY } = options;
    this.#limits = { eventsPerEntry, bytesPerEntry };
  }

  /** `raced` is cancelled when the reader has left. */
  answer(keyed: KeyedRequest, raced: Call): Reply {
    const { operation, call, digest } = keyed;
    const { idempotencyKey, taskId = "" } = operation.envelope.context;
    // An answer that came with less protection is not given to a call that requires more.
    const key = JSON.stringify([call.caller.owner, call.agent, idempotencyKey, floorName(call.floor)]);
    const request = JSON.stringify([operation.delivery, taskId, digest]);
    const known = this.#find(key);
    if (known === undefined) return read(this.#begin(key, request, keyed).answer.join(), operation, raced);
    if (known.request !== request) throw usedOtherwise();
    if (known.answer.overflowed) {
      if (this.#options.idempotentSend?.() !== true) throw tooLong("conflict");
      return this.#next(operation, call.derive({ cancel: raced.cancel }));
    }
    this.#note(operation, call, { kind: "repeat", from: known.endedMs === undefined ? "under-way" : "cache" });
    return read(known.answer.join(), operation, raced);
  }

  #find(key: string): Maybe<Entry> {
    const known = this.#underWay.get(key) ?? this.#kept.get(key);
    if (known?.endedMs === undefined) return known;
    const { clock, keepMs = KEEP_MS } = this.#options;
    if (clock.now() - known.endedMs < keepMs) return known;
    this.#kept.delete(key);
    return undefined;
  }

  #begin(key: string, request: string, { operation, call }: KeyedRequest): Entry {
    const { clock, underWay = UNDER_WAY } = this.#options;
    if (this.#underWay.size >= underWay)
      throw overloadedError(`${underWay} requests with an idempotency key are already in flight`);
    const cancel = new CancelSource();
    const single = !wantsStream(operation);
    const reply = replyOf(this.#next, operation, call.derive({ cancel }));
    const answer = new SharedAnswer({
      reply: single ? onlyEvent(reply) : reply,
      cancel,
      single,
      limits: this.#limits,
      ended: (how) => {
        this.#underWay.delete(key);
        if (how !== "complete") return;
        entry.endedMs = clock.now();
        this.#kept.set(key, entry);
      },
    });
    const entry: Entry = { answer, request, endedMs: undefined };
    this.#underWay.set(key, entry);
    return entry;
  }
}

function read(reader: AnswerReader, operation: Send, raced: Call): Reply {
  if (wantsStream(operation)) return reader;
  raced.cancel.onCancel(() => void reader.return());
  return reader.next().then(({ done, value }) => {
    void reader.return();
    if (done === true) throw new AgentError("internal", "the call ended without an answer");
    return value;
  });
}

function usedOtherwise(): AgentError {
  const field = "context.idempotencyKey";
  return new AgentError("conflict", `${field}: was used for another request`, { sent: "no", field });
}
