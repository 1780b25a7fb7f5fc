import type { Layer } from "../envelope/index.js";
import { around } from "./around.js";
import { overloadedError } from "./queue-errors.js";
import { wantsStream } from "./replies/shape.js";

export interface OpenStreamLimits {
  readonly openStreamsPerOwner: number;
}

/** Limits open streams per owner, so that one caller cannot exhaust them. */
export function limitOpenStreams({ openStreamsPerOwner }: OpenStreamLimits): Layer {
  const open = new Map<string, number>();
  const counted = around<string>({
    begin(_operation, call) {
      open.set(call.caller.owner, (open.get(call.caller.owner) ?? 0) + 1);
      return call.caller.owner;
    },
    end(owner) {
      const left = (open.get(owner) ?? 1) - 1;
      if (left === 0) open.delete(owner);
      else open.set(owner, left);
    },
  });
  return (next) => {
    const counting = counted(next);
    return function limited(operation, call) {
      if (!wantsStream(operation)) return next(operation, call);
      if ((open.get(call.caller.owner) ?? 0) >= openStreamsPerOwner)
        return Promise.reject(overloadedError(`at most ${openStreamsPerOwner} streams are open for one caller`));
      return counting(operation, call);
    };
  };
}
