import { AgentError, type Call, CallSlot, type Layer, type Maybe } from "../envelope/index.js";
import { around } from "../policies/index.js";
import type { HttpRequest, Session, SessionMessage } from "../transport/exchange.js";

/** Counts the running calls of every session: they keep it open, and their number is limited. */
export interface SessionCalls {
  /** Called by the host when a message has become a call. */
  callStarted(from: HttpRequest | SessionMessage, call: Call): void;
  readonly layer: Layer;
}

interface OpenSession {
  readonly session: Session;
  calls: number;
  release: Maybe<() => void>;
}

export function sessionCalls(limit: number): SessionCalls {
  const slot = new CallSlot<OpenSession>();
  const open = new WeakMap<Session, OpenSession>();

  function stateOf(session: Session): OpenSession {
    const known = open.get(session);
    if (known !== undefined) return known;
    const state: OpenSession = { session, calls: 0, release: undefined };
    open.set(session, state);
    return state;
  }

  return {
    callStarted(from, call) {
      if ("session" in from) slot.put(call, stateOf(from.session));
    },
    layer: around<OpenSession>({
      begin(_operation, call) {
        const state = slot.of(call);
        if (state === undefined) return undefined;
        if (state.calls >= limit)
          throw new AgentError("overloaded", `${limit} calls of this session are running, which is the limit`);
        if (state.calls++ === 0) state.release = state.session.hold();
        return state;
      },
      end(state) {
        if (--state.calls === 0) state.release?.();
      },
    }),
  };
}
