import { type Cancel, CancelSource } from "../envelope/index.js";

/** A cancel source that is also cancelled by its parent. */
export interface LinkedCancel {
  readonly source: CancelSource;
  /** Removes the listener from the parent, which may outlive many calls. */
  unlink(): void;
}

export function linkedCancel(above: Cancel): LinkedCancel {
  const source = new CancelSource();
  return { source, unlink: above.onCancel((reason) => source.cancel(reason)) };
}
