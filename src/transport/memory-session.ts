import { BaseSession, type SessionStart } from "./base-session.js";
import { bytesOf } from "./body.js";
import type { Chunk } from "./exchange.js";

type Queued =
  | { readonly frame: Chunk; readonly bytes: number }
  | { readonly close: { readonly code: number; readonly reason: string } };

/**
 * One end of a session without a socket. What it sends waits here while the other end is not read, as in the buffers of a connection;
 * a close frame comes after the messages before it.
 */
export class MemorySession extends BaseSession {
  #other: MemorySession = this;
  readonly #unsent: Queued[] = [];
  #unsentBytes = 0;
  /** This end reads nothing: it has more than its queue may hold. */
  #isPaused = false;
  #isOpen = true;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  /** Both ends of a session. */
  static pair(client: SessionStart, server: SessionStart): readonly [client: MemorySession, server: MemorySession] {
    const ends = [new MemorySession(client), new MemorySession(server)] as const;
    ends[0].#other = ends[1];
    ends[1].#other = ends[0];
    return ends;
  }

  protected get isOpen(): boolean {
    return this.#isOpen;
  }

  protected get hasRoom(): boolean {
    return this.#unsent.length === 0;
  }

  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  protected byteLength(text: string): number {
    return bytesOf(text).length;
  }

  protected write(frame: Chunk, bytes: number): void {
    this.#unsent.push({ frame, bytes });
    this.#unsentBytes += bytes;
    this.#flush();
  }

  protected pauseReading(): void {
    this.#isPaused = true;
  }

  protected resumeReading(): void {
    this.#isPaused = false;
    this.#other.#flush();
  }

  protected startClosing(code: number, reason: string): void {
    this.#isOpen = false;
    this.#closeTimer = setTimeout(() => this.destroy(), this.limits.drainMs);
    this.#closeTimer.unref?.();
    this.#unsent.push({ close: { code, reason } });
    this.#flush();
    // What the other end sent is read and dropped, up to its close frame.
    this.resumeReading();
  }

  destroy(): void {
    this.#ended(1006, "", false);
    this.#other.#ended(1006, "", false);
  }

  #flush(): void {
    const other = this.#other;
    while (this.#unsent.length > 0 && !other.#isPaused) {
      const next = this.#unsent.shift() as Queued; // there is one
      if ("close" in next) {
        other.#closedByOther(next.close.code, next.close.reason);
        return;
      }
      this.#unsentBytes -= next.bytes;
      other.receive(next.frame, next.bytes);
    }
    if (this.#unsent.length === 0) this.drained();
  }

  /** The other end's close frame has arrived. */
  #closedByOther(code: number, reason: string): void {
    this.#ended(code, reason, true);
    this.#other.#ended(code, reason, true);
  }

  #ended(code: number, reason: string, clean: boolean): void {
    this.#isOpen = false;
    this.#isPaused = false;
    clearTimeout(this.#closeTimer);
    this.#unsent.length = 0;
    this.#unsentBytes = 0;
    this.finish(code, reason, clean);
  }
}
