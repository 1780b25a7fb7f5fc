import { Counts, type Layer, subjectOf } from "../envelope/index.js";
import { around } from "./around.js";
import { overloadedError } from "./queue-errors.js";
import { wantsStream } from "./replies/shape.js";

export interface OpenStreamLimits {
  readonly openStreamsPerOwner: number;
}

/** Limits open streams per caller over all its tenants, so that one caller cannot exhaust them. */
export function limitOpenStreams({ openStreamsPerOwner }: OpenStreamLimits): Layer {
  const open = new Counts();
  const counted = around<string>({
    begin(_operation, call) {
      const subject = subjectOf(call.caller.owner);
      open.add(subject, 1);
      return subject;
    },
    end: (subject) => open.add(subject, -1),
  });
  return (next) => {
    const counting = counted(next);
    return function limited(operation, call) {
      if (!wantsStream(operation)) return next(operation, call);
      if (open.of(subjectOf(call.caller.owner)) >= openStreamsPerOwner)
        return Promise.reject(overloadedError(`at most ${openStreamsPerOwner} streams are open for one caller`));
      return counting(operation, call);
    };
  };
}
