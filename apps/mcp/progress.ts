import { artifactText, type EventOf, isClosing, type Maybe, type Part, textOf } from "../../src/index.js";
import type { Clock } from "../../src/public/policies.js";
import { LIMITS } from "./limits.js";
import { plainLine } from "./plain-text.js";

/** Sends one progress notification: an increasing count and a message. */
export type ReportProgress = (progress: number, message: string) => Promise<void>;

/**
 * Reports the progress of a call. Status events are sent at once; artifact chunks are combined when they arrive fast. A
 * heartbeat is sent when idle, because assistants time out.
 */
export class Progress {
  readonly #send: ReportProgress;
  readonly #clock: Clock;
  #count = 0;
  #pieces = "";
  #lastReportAt: number;
  #ended = false;
  #cancelHeartbeat: () => void = () => undefined;

  constructor(send: ReportProgress, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
    this.#lastReportAt = clock.now();
    this.#scheduleHeartbeat();
  }

  /** Resolves when the notification is written: backpressure from the assistant. */
  async report(event: EventOf<"send">): Promise<void> {
    if (isClosing(event)) return this.#flush();
    if (event.kind === "artifact") {
      this.#pieces += piecesOf(event.artifact.parts);
      if (this.#clock.now() - this.#lastReportAt >= LIMITS.progressGapMs) await this.#flush();
      return;
    }
    await this.#flush();
    if (event.kind === "message") return;
    const status = event.kind === "task" ? event.task.status : event.status;
    const text = textOf(status.message?.content ?? []);
    const fallback = event.kind === "task" ? `${status.state}: task ${event.task.id}` : status.state;
    await this.#write(text === "" ? fallback : text);
  }

  end(): void {
    this.#ended = true;
    this.#cancelHeartbeat();
  }

  async #flush(): Promise<void> {
    const pieces = this.#pieces;
    this.#pieces = "";
    if (pieces !== "") await this.#write(pieces);
  }

  async #write(message: string): Promise<void> {
    if (this.#ended) return;
    this.#lastReportAt = this.#clock.now();
    await this.#send(++this.#count, plainLine(message, LIMITS.lineChars));
  }

  #scheduleHeartbeat(): void {
    this.#cancelHeartbeat = this.#clock.after(LIMITS.heartbeatMs, () => {
      if (this.#ended) return;
      if (this.#clock.now() - this.#lastReportAt >= LIMITS.heartbeatMs) void this.#write("still working");
      this.#scheduleHeartbeat();
    });
  }
}

/** The text of a chunk; labels for other parts. */
function piecesOf(parts: readonly Part[]): string {
  const text = artifactText(parts);
  const others = parts.filter(({ kind }) => kind !== "text").map(labelOf);
  return `${text}${others.length === 0 ? "" : ` [${others.join(", ")}] `}`;
}

function labelOf({ kind, name, mediaType }: Part): Maybe<string> {
  return name ?? mediaType ?? kind;
}
