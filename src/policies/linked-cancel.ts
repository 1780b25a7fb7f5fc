import { type Cancel, CancelSource } from "../envelope/index.js";

/** A cancel of its own that also hears the one above it. */
export interface LinkedCancel {
  readonly source: CancelSource;
  /** Takes the listener off the one above; it may outlive many calls. */
  unlink(): void;
}

export function linkedCancel(above: Cancel): LinkedCancel {
  const source = new CancelSource();
  return { source, unlink: above.onCancel((reason) => source.cancel(reason)) };
}
