/** Totals of the calls in the window. */
export interface CircuitTotals {
  readonly calls: number;
  readonly failures: number;
  readonly slow: number;
}

interface Slice {
  /** The slice of time since the epoch that this slot counts; older contents are void. */
  id: number;
  calls: number;
  failures: number;
  slow: number;
}

/** The window advances by one slice at a time. */
const SLICES = 10;

/** Counts over the last `windowMs`, in a fixed number of slices: its size does not depend on the traffic. */
export class CircuitWindow {
  readonly #sliceMs: number;
  readonly #slices: Slice[] = Array.from({ length: SLICES }, () => ({ id: -1, calls: 0, failures: 0, slow: 0 }));

  constructor(windowMs: number) {
    this.#sliceMs = Math.max(1, windowMs / SLICES);
  }

  add(nowMs: number, failed: boolean, slow: boolean): void {
    const id = Math.floor(nowMs / this.#sliceMs);
    const slice = this.#slices[id % SLICES];
    if (slice === undefined) return;
    if (slice.id !== id) Object.assign(slice, { id, calls: 0, failures: 0, slow: 0 });
    slice.calls += 1;
    if (failed) slice.failures += 1;
    if (slow) slice.slow += 1;
  }

  totals(nowMs: number): CircuitTotals {
    const oldest = Math.floor(nowMs / this.#sliceMs) - SLICES + 1;
    const totals = { calls: 0, failures: 0, slow: 0 };
    for (const slice of this.#slices) {
      if (slice.id < oldest) continue;
      totals.calls += slice.calls;
      totals.failures += slice.failures;
      totals.slow += slice.slow;
    }
    return totals;
  }

  clear(): void {
    for (const slice of this.#slices) slice.id = -1;
  }
}
