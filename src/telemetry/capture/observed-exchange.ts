import { watchIterable } from "../../policies/index.js";
import { type HttpRequest, type HttpResponse, isStream } from "../../transport/exchange.js";
import { BodyCapture } from "./body-capture.js";
import { requestHead } from "./secrets.js";

/** Told about one request and its response. Whoever hears it must not throw. */
export interface ExchangeObserver {
  /** A response has begun; its body follows as it passes. */
  answered(response: BodyCapture): void;
  /** More of the body passed, or all of it has. */
  grew(): void;
}

/** A request as it stands in a sighting. */
export function captureRequest(request: HttpRequest, bodyBytes: number): BodyCapture {
  const capture = new BodyCapture(requestHead(request.method, request.path, request.query), request.headers, bodyBytes);
  capture.add(request.body);
  capture.end();
  return capture;
}

/** The same response. A whole body is taken now; one that comes in chunks is taken as the reader takes it, never ahead of it. */
export function captureResponse(response: HttpResponse, bodyBytes: number, watched: ExchangeObserver): HttpResponse {
  const capture = new BodyCapture(String(response.status), response.headers, bodyBytes);
  const { status, headers, body, idle } = response;
  const end = (): void => {
    capture.trail(response.trailers?.());
    capture.end();
    watched.grew();
  };
  if (!isStream(body)) {
    if (body !== undefined) capture.add(body);
    capture.end();
    watched.answered(capture);
    return response;
  }
  watched.answered(capture);
  const passing = watchIterable(body, {
    item: (chunk) => {
      capture.add(chunk);
      watched.grew();
    },
    end,
  });
  if (response.trailers === undefined) return { status, headers, body: passing, idle };
  return { status, headers, body: passing, idle, trailers: () => response.trailers?.() ?? {} };
}

/** What is there is looked at now, what is still to come when it is there. */
export function whenAnswered(response: HttpResponse | Promise<HttpResponse>, see: (response: HttpResponse) => HttpResponse) {
  return response instanceof Promise ? response.then(see) : see(response);
}
