import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  isPromise,
  type Layer,
  type Operation,
  type Reply,
} from "../envelope/index.js";
import { type IterationWatch, watchIterable } from "./replies/watch-iterable.js";

/** A promise of one event, or a stream of many. */
export type Shape = "one" | "many";

/** How a reply came to its end. `stopped`: the reader left a stream early. */
export type Outcome =
  | { readonly kind: "ended"; readonly shape: Shape; readonly last: AgentEvent | undefined }
  | { readonly kind: "stopped"; readonly shape: Shape; readonly last: AgentEvent | undefined }
  | { readonly kind: "failed"; readonly shape: Shape; readonly error: AgentError };

/** Callbacks around a call, for both shapes of reply. */
export interface Around<S> {
  /** The state of this call; undefined lets the call pass untouched. What it throws refuses the call. */
  begin(operation: Operation, call: Call): S | undefined;
  /** The call as the handler below sees it. */
  under?(state: S, call: Call): Call;
  /** Runs the handler below, and each pull of its stream; for layers that need a surrounding context. */
  within?<T>(state: S, run: () => T): T;
  /** Each event before the reader gets it. What it throws becomes the failure of the reply, and the source is stopped. */
  event?(state: S, event: AgentEvent, shape: Shape): void;
  /** Exactly once per call that began. What it throws after a good end becomes the failure of the reply. */
  end(state: S, outcome: Outcome): void;
}

/** A layer made of what happens before and after; replies keep their shape. */
export function around<S>(watch: Around<S>): Layer {
  return (next) => (operation, call) => {
    let state: S | undefined;
    try {
      state = watch.begin(operation, call);
      if (state === undefined) return next(operation, call);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
    let reply: Reply;
    try {
      reply = callBelow(watch, state, next, operation, call);
    } catch (thrown) {
      return failed(watch, state, thrown);
    }
    return isPromise(reply) ? watchOne(watch, state, reply) : watchMany(watch, state, reply);
  };
}

// biome-ignore lint/complexity/useMaxParams: on the path of every call; an options object would be allocated per request
function callBelow<S>(watch: Around<S>, state: S, next: Handler, operation: Operation, call: Call): Reply {
  const below = watch.under === undefined ? call : watch.under(state, call);
  return watch.within === undefined ? next(operation, below) : watch.within(state, () => next(operation, below));
}

/** Turns a synchronous throw of the handler into a rejection. */
function failed<S>(watch: Around<S>, state: S, thrown: unknown): Promise<never> {
  try {
    watch.end(state, { kind: "failed", shape: "one", error: AgentError.from(thrown) });
  } catch (thrownByEnd) {
    return Promise.reject(thrownByEnd);
  }
  return Promise.reject(thrown);
}

function watchOne<S>(watch: Around<S>, state: S, reply: Promise<AgentEvent>): Promise<AgentEvent> {
  return reply.then(
    (event) => {
      try {
        watch.event?.(state, event, "one");
      } catch (thrown) {
        watch.end(state, { kind: "failed", shape: "one", error: AgentError.from(thrown) });
        throw thrown;
      }
      watch.end(state, { kind: "ended", shape: "one", last: event });
      return event;
    },
    (thrown: unknown) => {
      watch.end(state, { kind: "failed", shape: "one", error: AgentError.from(thrown) });
      throw thrown;
    },
  );
}

function watchMany<S>(watch: Around<S>, state: S, reply: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent> {
  return watchIterable(reply, new StreamWatch(watch, state));
}

/** Every open stream keeps one: an object and no closures. */
class StreamWatch<S> implements IterationWatch<AgentEvent> {
  within?: <R>(run: () => R) => R;
  readonly #watch: Around<S>;
  readonly #state: S;
  #last: AgentEvent | undefined;

  constructor(watch: Around<S>, state: S) {
    this.#watch = watch;
    this.#state = state;
    const { within } = watch;
    if (within !== undefined) this.within = (run) => within.call(watch, state, run) as ReturnType<typeof run>; // `call` forgets the type parameter
  }

  item(event: AgentEvent): void {
    this.#watch.event?.(this.#state, event, "many");
    this.#last = event;
  }

  end(how: "ended" | "stopped" | "failed", thrown?: unknown): void {
    if (how === "failed") this.#watch.end(this.#state, { kind: how, shape: "many", error: AgentError.from(thrown) });
    else this.#watch.end(this.#state, { kind: how, shape: "many", last: this.#last });
  }
}
