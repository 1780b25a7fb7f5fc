import { type LossSink, type Maybe, RecentMap } from "../../../envelope/index.js";
import { reportLossAt } from "../codec/koine-members.js";
import { isUuid } from "../codec/run.js";

/** Limit of remembered sessions per connection whose id is not a UUID. */
const SESSIONS_REMEMBERED = 10_000;

/**
 * ACP session ids are UUIDs. A session with another id gets a random one for this connection. It is never derived from the id,
 * because two callers with the same id would then share a session.
 */
export class SessionIds {
  readonly #byName = new RecentMap<string>(SESSIONS_REMEMBERED);
  readonly #byUuid = new RecentMap<string>(SESSIONS_REMEMBERED);

  /** The session id on the wire. */
  uuidFor(owner: string, sessionId: Maybe<string>, reportLoss: LossSink): Maybe<string> {
    if (sessionId === undefined || sessionId === "" || isUuid(sessionId)) return sessionId === "" ? undefined : sessionId;
    reportLossAt(reportLoss, "context.sessionId", "string", "ACP session ids are UUIDs; this one is mapped for this connection");
    const known = this.#byName.get(key(owner, sessionId));
    if (known !== undefined) return known;
    const uuid = crypto.randomUUID();
    this.#byName.set(key(owner, sessionId), uuid);
    this.#byUuid.set(key(owner, uuid), sessionId);
    return uuid;
  }

  /** The caller's id of the session; undefined if it is the same. */
  nameOf(owner: string, uuid: unknown): Maybe<string> {
    return typeof uuid === "string" ? this.#byUuid.get(key(owner, uuid.toLowerCase())) : undefined;
  }
}

/** The length prefix makes the key unambiguous. */
function key(owner: string, id: string): string {
  return `${owner.length}:${owner}${id}`;
}
