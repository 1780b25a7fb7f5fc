import { type SenderOptions, type Sent, sendBatch } from "./otlp-http.js";
import { exportRequest } from "./otlp-json.js";
import type { BatchSettings } from "./settings.js";
import type { RecordedSpan } from "./span.js";

export interface SpanQueueParts {
  readonly sender: SenderOptions;
  readonly batch: BatchSettings;
  readonly resource: { readonly [name: string]: string };
  /** Spans that were not delivered: the queue was full, or the collector did not take them. */
  dropped(count: number): void;
  /** Called when exporting begins to fail, and when it works again (undefined). */
  failing(reason: string | undefined): void;
}

/** What the spans that are left get at the end of the process, retries included. */
const CLOSE_MS = 3_000;

/** Ended spans, sent in batches, one at a time. Adding never waits: what does not fit is dropped and counted. */
export class SpanQueue {
  readonly #parts: SpanQueueParts;
  readonly #waiting: RecordedSpan[] = [];
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #isFailing = false;

  constructor(parts: SpanQueueParts) {
    this.#parts = parts;
  }

  add(span: RecordedSpan): void {
    const { batch } = this.#parts;
    if (this.#isClosed || this.#waiting.length >= batch.queueSpans) {
      this.#parts.dropped(1);
      return;
    }
    this.#waiting.push(span);
    if (this.#sending !== undefined) return;
    if (this.#waiting.length >= batch.batchSpans) this.#start();
    else this.#timer ??= setTimeout(() => this.#start(), batch.delayMs).unref();
  }

  /** Sends what is left, within its limit. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const limit = setTimeout(() => this.#closing.abort(), CLOSE_MS);
    await this.#sending;
    while (this.#waiting.length > 0) await this.#sendNext();
    clearTimeout(limit);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sendFull().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0 && !this.#isClosed)
        this.#timer = setTimeout(() => this.#start(), this.#parts.batch.delayMs).unref();
    });
  }

  async #sendFull(): Promise<void> {
    do await this.#sendNext();
    while (this.#waiting.length >= this.#parts.batch.batchSpans && !this.#isClosed);
  }

  async #sendNext(): Promise<void> {
    const { batch, sender, resource } = this.#parts;
    const spans = this.#waiting.splice(0, batch.batchSpans);
    const limit = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(batch.exportMs)]);
    this.#report(await sendBatch(exportRequest(spans, resource), sender, limit), spans.length);
  }

  #report(sent: Sent, count: number): void {
    const lost = sent.kind === "accepted" ? Math.min(count, sent.rejectedSpans) : count;
    if (lost > 0) this.#parts.dropped(lost);
    const isFailing = sent.kind === "failed";
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    this.#parts.failing(isFailing ? sent.reason : undefined);
  }
}
