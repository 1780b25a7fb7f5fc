/** Notes wait so long before they are sent, so that sending does not disturb what is measured. A killed process loses at most these. */
const EVERY_MS = 50;

/** Sends events to the driver in batches. */
export class NoteSender<T extends object> {
  #waiting: T[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** The object may still change until it is sent. */
  add(note: T): void {
    this.#waiting.push(note);
    this.#timer ??= setTimeout(() => this.flush(), EVERY_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const notes = this.#waiting;
    this.#waiting = [];
    if (notes.length > 0) process.send?.({ notes });
  }
}
