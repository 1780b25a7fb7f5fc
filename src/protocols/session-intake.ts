import { AgentError, type Awaitable, type Maybe, type Principal, subjectOf } from "../envelope/index.js";
import type { HttpResponse, Intake, RequestHead, Session, Upgraded } from "../transport/exchange.js";
import { errorResponse } from "../transport/response.js";
import type { FrontHost } from "./host.js";
import type { Claim, RouteTable } from "./route-table.js";
import { type SessionSlot, SessionSlots } from "./session-slots.js";

/** RFC 6455 §7.4.1: the server failed. */
const INTERNAL_ERROR = 1011;

/** HTTP statuses of refused upgrades. */
const STATUS: { readonly [code: string]: number } = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  invalid_message: 400,
  overloaded: 503,
  unavailable: 503,
};

export interface SessionIntakeParts {
  readonly host: FrontHost;
  readonly table: RouteTable;
  readonly observer: IntakeObserver;
}

/** Observes the sessions of a host, and decisions about callers that are not made by the admission. */
export interface IntakeObserver {
  /** A session was accepted; `protocol` is the id of its protocol, which runs it next. */
  session(session: Session, protocol: string): void;
  /** A caller was authenticated inside its protocol. */
  identified(head: RequestHead, caller: Principal): void;
  /** A caller was refused inside its protocol, or because too many sessions are open. Undefined: not authenticated. */
  refused(head: RequestHead, error: AgentError, caller: Maybe<Principal>, protocol: string): void;
}

/** Decides about sessions, and ends them when their host is replaced. */
export interface SessionIntake {
  readonly upgrade: NonNullable<Intake["upgrade"]>;
  /** Closes every session as soon as no call runs in it. */
  retire(): void;
}

const RETIRED = "the agents were replaced";

/** Accepts sessions as requests are: route, subprotocol, caller and quota are decided before the connection is upgraded. */
export function sessionIntake({ host, table, observer }: SessionIntakeParts): SessionIntake {
  const { admission } = host;
  const open = new Set<Session>();
  let isRetired = false;
  const slots = new SessionSlots(host.limits);
  const slotOf = new WeakMap<RequestHead, SessionSlot>();
  admission.onIdentified = (head, caller) => {
    observer.identified(head, caller);
    withinQuota(head, caller, () => slotOf.get(head)?.assign(subjectOf(caller.owner)));
  };
  admission.onUnidentified = (head, thrown) => refused(head, thrown, undefined);

  function refused(head: RequestHead, thrown: unknown, caller: Maybe<Principal>): void {
    const claim = table.findUpgrade(head) ?? table.find(head)[0];
    observer.refused(head, AgentError.from(thrown), caller, claim?.owner ?? "");
  }

  function withinQuota<T>(head: RequestHead, caller: Maybe<Principal>, take: () => T): T {
    try {
      return take();
    } catch (thrown) {
      refused(head, thrown, caller);
      throw thrown;
    }
  }

  function upgrade(head: RequestHead): Awaitable<Upgraded | HttpResponse> {
    try {
      const claim = table.findUpgrade(head);
      if (claim === undefined) throw new AgentError("not_found", `No session at ${head.path}`);
      const subprotocol = selectSubprotocol(claim.route.upgrade ?? [], head.headers["sec-websocket-protocol"]);
      if (claim.route.proves === true && !admission.decidesByHead(head)) return accepted(claim, head, subprotocol, undefined);
      const caller = admission.admit(head);
      if (!(caller instanceof Promise)) return accepted(claim, head, subprotocol, caller);
      return caller.then((late) => accepted(claim, head, subprotocol, late)).catch(refusal);
    } catch (thrown) {
      return refusal(thrown);
    }
  }

  function accepted(claim: Claim, head: RequestHead, subprotocol: Maybe<string>, caller: Maybe<Principal>): Upgraded {
    const slot = withinQuota(head, caller, () => slots.take(caller && subjectOf(caller.owner)));
    slotOf.set(head, slot);
    const admitted = head.admitted instanceof Promise ? undefined : head.admitted;
    return {
      subprotocol,
      headers: { ...admitted?.head },
      abandon: () => slot.free(),
      async accept(session) {
        open.add(session);
        try {
          observer.session(session, claim.owner);
          // Its upgrade may have been decided before.
          if (isRetired) session.shutDown(RETIRED);
          await claim.accept?.(session);
        } catch (thrown) {
          host.fault(thrown);
          session.close(INTERNAL_ERROR, "internal error");
        } finally {
          open.delete(session);
          slot.free();
        }
      },
    };
  }

  return {
    upgrade,
    retire() {
      isRetired = true;
      for (const session of open) session.shutDown(RETIRED);
    },
  };
}

function refusal(thrown: unknown): HttpResponse {
  const error = AgentError.from(thrown);
  return errorResponse(STATUS[error.code] ?? 500, error);
}

/** RFC 6455 §4.2.2: one that the client offers. A route without subprotocols ignores what is offered. */
function selectSubprotocol(served: readonly string[], offered: Maybe<string>): Maybe<string> {
  if (served.length === 0) return undefined;
  const names = (offered ?? "").split(",").map((name) => name.trim());
  const found = served.find((name) => names.includes(name));
  if (found === undefined)
    throw new AgentError("invalid_message", `offer one of these subprotocols in Sec-WebSocket-Protocol: ${served.join(", ")}`, {
      field: "sec-websocket-protocol",
    });
  return found;
}
