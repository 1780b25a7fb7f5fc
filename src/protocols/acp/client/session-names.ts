import { type LossSink, type Maybe, RecentMap } from "../../../envelope/index.js";
import { lost } from "../codec/own.js";
import { isUuid } from "../codec/run.js";

/** How many sessions with an id of another form are remembered for one connection. */
const SESSIONS_REMEMBERED = 10_000;

/**
 * ACP's sessions have UUIDs. A session of ours with another id gets a fresh one for as long as this connection remembers it;
 * never one made from the id itself, because two callers who choose the same id would then read each other's session.
 */
export class SessionNames {
  readonly #byName = new RecentMap<string>(SESSIONS_REMEMBERED);
  readonly #byUuid = new RecentMap<string>(SESSIONS_REMEMBERED);

  /** What the wire is to call it. */
  uuidFor(owner: string, sessionId: Maybe<string>, lose: LossSink): Maybe<string> {
    if (sessionId === undefined || sessionId === "" || isUuid(sessionId)) return sessionId === "" ? undefined : sessionId;
    lost(lose, "context.sessionId", "string", "ACP sessions are UUIDs; this one is renamed for this process");
    const known = this.#byName.get(key(owner, sessionId));
    if (known !== undefined) return known;
    const uuid = crypto.randomUUID();
    this.#byName.set(key(owner, sessionId), uuid);
    this.#byUuid.set(key(owner, uuid), sessionId);
    return uuid;
  }

  /** What its caller calls it; undefined where that is the same. */
  nameOf(owner: string, uuid: unknown): Maybe<string> {
    return typeof uuid === "string" ? this.#byUuid.get(key(owner, uuid.toLowerCase())) : undefined;
  }
}

/** The length keeps the two apart whatever characters they have. */
function key(owner: string, id: string): string {
  return `${owner.length}:${owner}${id}`;
}
