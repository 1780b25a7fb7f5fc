import { AgentError, floorOf, type Maybe, type Principal } from "../../../envelope/index.js";
import type { Chunk, HttpRequest, HttpResponse, RequestHead, Session } from "../../../transport/exchange.js";
import { jsonResponse } from "../../../transport/response.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import type { ServedSessionParts } from "../../served-session.js";
import { plainCalleeWire } from "../plain/callee-wire.js";
import { handshakeError } from "../session/handshake-error.js";
import { HelloRate } from "../session/hello-rate.js";
import { withinTime } from "../session/messages.js";
import { readSettings } from "../settings.js";
import { LEGACY, PROTOCOL, SESSION_PATH } from "../wire.js";
import { addressOf, didAllDocument, parseDidAll, provedDid } from "./did-all.js";
import { respond } from "./handshake.js";
import { common } from "./hello.js";
import { LegacySession } from "./legacy-session.js";
import { serverKeyOf } from "./own-key.js";
import { DOCUMENT_BASE } from "./profile.js";

/** RFC 6455 §7.4.1. */
const REFUSED = 1008;
const TRY_LATER = 1013;
const VIA = { protocol: PROTOCOL, version: LEGACY, binding: "WS" } as const;
/** Messages can be left out and moved: nothing says that they are signed. */
const PROVED = floorOf(["encrypted", "identity"]);
/** What the SDK's responses have as codes are HTTP statuses. */
const FORBIDDEN = 403;

/** A session whose caller is proved, ready for its calls. */
export interface LegacyCaller {
  readonly parts: ServedSessionParts;
  readonly frames: AsyncIterator<Chunk>;
}

/** The sessions of agent-connect 0.3, if they are switched on. Without an identity for them the server does not start. */
export class LegacyServer {
  readonly #host: Host;
  /** Whether the old session is switched on. */
  readonly isOn: boolean;
  readonly #hellos: HelloRate;

  constructor(host: Host) {
    this.#host = host;
    this.isOn = readSettings(host.settings(PROTOCOL)).legacySession;
    this.#hellos = new HelloRate(() => host.now());
    if (this.isOn) serverKeyOf(host.identity);
  }

  /** Undefined if the handshake failed: then the session is closed. */
  async accepted(outer: Session, first: Chunk, frames: AsyncIterator<Chunk>): Promise<Maybe<LegacyCaller>> {
    const { request } = outer;
    const { remote } = request.connection;
    const host = this.#host;
    try {
      this.#hellos.check(remote);
      if (!this.isOn)
        throw handshakeError(
          "legacy_session_off",
          "the session of agent-connect 0.3 is not switched on; use koine.anp.session.v1",
        );
      let caller: Maybe<Principal>;
      const rules = {
        authority: new URL(host.publicUrl(request)).host,
        admit: async (peer: Parameters<Host["identify"]>[1]) => {
          caller = await host.identify(outer, peer);
        },
      };
      const side = { context: host, key: serverKeyOf(host.identity) };
      const shaken = await withinTime(outer, frames, request.cancel, (messages) => respond(messages, side, rules, first));
      if (caller === undefined) throw new AgentError("internal", "a handshake ended without a caller");
      const session = new LegacySession({
        outer,
        frames,
        shaken,
        limits: host.limits,
        asks: false,
        now: () => host.now(),
        onRefused: ({ problem }) =>
          host.refused(
            outer,
            new AgentError("bad_signature", `message refused: ${problem}`, { detail: { reason: `record_${problem}` } }),
          ),
      });
      const wire = plainCalleeWire({ host, caller, via: VIA, provedDid: provedDid(shaken.peerDid) });
      const parts = { host, wire, session, caller, proved: PROVED, outer: session.outerOf.bind(session) };
      return { parts, frames: session.frames };
    } catch (thrown) {
      this.#hellos.failed(remote);
      this.#refuse(outer, callerError(host, thrown));
      return undefined;
    }
  }

  #refuse(outer: Session, error: AgentError): void {
    const reason = error.facts.detail?.["reason"] ?? error.code;
    this.#host.refused(
      outer,
      new AgentError(error.code, `handshake refused (${reason}): ${error.message}`, { detail: { reason } }),
    );
    const refusal = { ...common("response", this.#host.newId(), this.#host.now()), originalType: "sourceHello", code: FORBIDDEN };
    outer.send(JSON.stringify({ ...refusal, detail: `${reason}: ${error.message}` }))?.catch(() => undefined);
    outer.close(error.code === "overloaded" ? TRY_LATER : REFUSED, reason);
  }

  /** `GET /v1/did/{did}`: the document of this server, for callers that ask for its address. Undefined: there is none. */
  async document(request: HttpRequest): Promise<Maybe<HttpResponse>> {
    const did = this.isOn ? didIn(request) : undefined;
    const called = did === undefined ? undefined : parseDidAll(did);
    const { identity, key } = this.isOn ? serverKeyOf(this.#host.identity) : { identity: undefined, key: undefined };
    if (did === undefined || key === undefined || called?.address !== addressOf(key.bytes)) return undefined;
    const publicUrl = this.#host.publicUrl(request);
    if (called.host !== undefined && called.host !== new URL(publicUrl).host) return undefined;
    const document = await didAllDocument(did, key.bytes, {
      endpoint: publicUrl.replace(/^http/, "ws") + SESSION_PATH,
      nowMs: this.#host.now(),
      sign: (bytes) => identity.sign(key.id, bytes),
    });
    return jsonResponse(200, JSON.stringify(document));
  }
}

/** The DID that a path names. Undefined: it names none. */
export function didIn({ path }: Pick<RequestHead, "path">): Maybe<string> {
  if (!path.startsWith(DOCUMENT_BASE)) return undefined;
  try {
    const did = decodeURIComponent(path.slice(DOCUMENT_BASE.length));
    return parseDidAll(did) === undefined ? undefined : did;
  } catch {
    return undefined;
  }
}
