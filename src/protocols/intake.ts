import { AgentError, type Awaitable, type Maybe } from "../envelope/index.js";
import type { NeedsBody } from "../security/admission.js";
import { type BodyLimit, bodyLimitOf } from "../transport/body-limit.js";
import type { HttpRequest, HttpResponse, Intake, RequestHead, Taken, UnreadRequest } from "../transport/exchange.js";
import { errorResponse } from "../transport/response.js";
import { respondUnread, retryAfter } from "../transport/unread.js";
import { isHealthRequest } from "./health-routes.js";
import type { FrontHost } from "./host.js";
import { refuse } from "./request-admission.js";
import type { Claim, RouteTable } from "./route-table.js";
import { type IntakeObserver, type SessionIntake, sessionIntake } from "./session-intake.js";

/** Answers a complete request by one of the routes that match its head; without any it is refused. */
export type Answer = (found: readonly Claim[], request: HttpRequest) => Awaitable<HttpResponse>;

export interface FrontIntakeParts {
  readonly host: FrontHost;
  readonly table: RouteTable;
  readonly answer: Answer;
  readonly observer: IntakeObserver;
}

/** Decides about requests and sessions. */
export interface FrontIntake extends SessionIntake {
  readonly take: Intake["take"];
  readonly refuse: NonNullable<Intake["refuse"]>;
  /** Health checks: answered while the server closes. */
  isHealthCheck(head: RequestHead): boolean;
}

/** HTTP statuses of refusals, where the protocol does not choose another form. */
const STATUS: { readonly [code: string]: number } = { forbidden: 403, unavailable: 503, overloaded: 503, too_large: 413 };

/**
 * Decides by the head of a request: its route, and who sends it. A body is read only from an admitted caller; where the protocol
 * authenticates by the message, only a short one.
 */
export function frontIntake({ host, table, answer, observer }: FrontIntakeParts): FrontIntake {
  const { admission, limits } = host;
  const taken = new TakenByRoute(host, answer);

  function take(request: UnreadRequest): Awaitable<Taken | HttpResponse> {
    const found = table.find(request);
    // Without a body there is nothing to protect: the protocol authenticates where it needs to know the caller.
    if (!request.hasBody) return taken.of(found, "bodyBytes");
    if (found.length === 0) return refuseUnrouted(request);
    const isAlone = admission.identifies && found.every(({ route }) => route.provesAlone?.(request) === true);
    if (found.every(({ route }) => route.proves === true) && (isAlone || !admission.decidesByHead(request)))
      return {
        bodyBytes: limits.unprovenBytes,
        limit: "unprovenBytes",
        unadmitted: true,
        exchange: (complete) => answer(found, complete),
      };
    let needs: Awaitable<Maybe<NeedsBody>>;
    try {
      needs = admission.decide(request, found[0]?.route.signatures);
    } catch (thrown) {
      return refuseUnread(found, request, thrown);
    }
    const decided = (needed: Maybe<NeedsBody>): Taken => {
      const limit = bodyLimitOf(request, limits);
      return needed === undefined ? taken.of(found, limit) : completing(found, request, needed, limit);
    };
    if (!(needs instanceof Promise)) return decided(needs);
    return needs.then(decided, (thrown: unknown) => refuseUnread(found, request, thrown));
  }

  /** Nothing reads the body where no route matches. */
  function refuseUnrouted(request: UnreadRequest): Promise<HttpResponse> {
    const error = new AgentError("not_found", `No route for ${request.method} ${request.path}`);
    return respondUnread((unread) => answer([], unread), request, error, errorResponse(404, error));
  }

  /** The refusal in the format of the addressed protocol, which finds it when it asks for the caller or the body. */
  function refuseUnread(found: readonly Claim[], request: UnreadRequest, thrown: unknown): Promise<HttpResponse> {
    const error = AgentError.from(thrown);
    void refuse(request, error);
    return respondUnread((unread) => answer(found, unread), request, error, errorResponse(STATUS[error.code] ?? 401, error));
  }

  /** The body decides: it is checked before anything parses it. */
  function completing(found: readonly Claim[], head: UnreadRequest, needs: NeedsBody, limit: BodyLimit): Taken {
    const within = limits[limit];
    return {
      bodyBytes: Math.min(needs.bodyBytes ?? within, within),
      ...((needs.bodyBytes ?? within) < within ? {} : { limit }),
      unadmitted: true,
      exchange(request) {
        const admitted = admission.complete(head, needs, request.body);
        if (!(admitted instanceof Promise)) return answer(found, request);
        return admitted.then(
          () => answer(found, request),
          (thrown: unknown) => refuseUnread(found, head, thrown),
        );
      },
    };
  }

  /** As the addressed protocol refuses. Documents are refused too: whoever reads one would call next. */
  async function refuseAny(request: UnreadRequest, reason: AgentError): Promise<HttpResponse> {
    const plain = errorResponse(STATUS[reason.code] ?? 503, reason);
    const found = table.find(request);
    if (found.length === 0) return plain;
    const response = await refuseUnread(found, request, reason);
    if (!request.hasBody && response.status < 400) return plain;
    return { ...response, headers: { ...retryAfter(plain), ...response.headers } };
  }

  return {
    take,
    refuse: refuseAny,
    isHealthCheck: (head) => isHealthRequest(head) || table.find(head).some(({ route }) => route.health === true),
    ...sessionIntake({ host, table, observer }),
  };
}

/** What happens with an admitted request, made once for each route. */
class TakenByRoute {
  readonly #host: FrontHost;
  readonly #answer: Answer;
  readonly #taken = {
    bodyBytes: new WeakMap<readonly Claim[], Taken>(),
    jsonBytes: new WeakMap<readonly Claim[], Taken>(),
  } satisfies { readonly [limit in BodyLimit]: unknown };

  constructor(host: FrontHost, answer: Answer) {
    this.#host = host;
    this.#answer = answer;
  }

  of(found: readonly Claim[], limit: BodyLimit): Taken {
    const known = this.#taken[limit].get(found);
    if (known !== undefined) return known;
    const { limits, largeContent } = this.#host;
    const streamedBytes = found.length === 1 ? found[0]?.route.streamedBytes : undefined;
    const made: Taken = {
      bodyBytes: Math.min(streamedBytes ?? limits[limit], limits[limit]),
      limit: largeContent === undefined ? limit : `${limit}; ${largeContent}`,
      unadmitted: false,
      streamed: streamedBytes !== undefined,
      exchange: (request) => this.#answer(found, request),
    };
    this.#taken[limit].set(found, made);
    return made;
  }
}
