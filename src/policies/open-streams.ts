import { type Layer, subjectOf } from "../envelope/index.js";
import { around } from "./around.js";
import { overloadedError } from "./queue-errors.js";
import { wantsStream } from "./replies/shape.js";

export interface OpenStreamLimits {
  readonly openStreamsPerOwner: number;
}

/** Limits open streams per caller over all its tenants, so that one caller cannot exhaust them. */
export function limitOpenStreams({ openStreamsPerOwner }: OpenStreamLimits): Layer {
  const open = new Map<string, number>();
  const counted = around<string>({
    begin(_operation, call) {
      const subject = subjectOf(call.caller.owner);
      open.set(subject, (open.get(subject) ?? 0) + 1);
      return subject;
    },
    end(subject) {
      const left = (open.get(subject) ?? 1) - 1;
      if (left === 0) open.delete(subject);
      else open.set(subject, left);
    },
  });
  return (next) => {
    const counting = counted(next);
    return function limited(operation, call) {
      if (!wantsStream(operation)) return next(operation, call);
      if ((open.get(subjectOf(call.caller.owner)) ?? 0) >= openStreamsPerOwner)
        return Promise.reject(overloadedError(`at most ${openStreamsPerOwner} streams are open for one caller`));
      return counting(operation, call);
    };
  };
}
