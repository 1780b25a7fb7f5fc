import { watchIterable } from "../../policies/index.js";
import { type HttpRequest, type HttpResponse, isStream, withBody } from "../../transport/exchange.js";
import { BodyCapture, type WireCapture } from "./body-capture.js";
import { requestHead } from "./secrets.js";

/** Receives the progress of one HTTP exchange. Must not throw. */
export interface ExchangeObserver {
  /** The response has started; its body follows. */
  responseStarted(response: WireCapture): void;
  /** More of the body has passed, or it has ended. */
  bodyProgressed(): void;
}

/** Captures a complete request. */
export function captureRequest(request: HttpRequest, bodyBytes: number): BodyCapture {
  const capture = new BodyCapture(requestHead(request.method, request.path, request.query), request.headers, bodyBytes);
  capture.add(request.body);
  capture.end();
  return capture;
}

/** Captures a response and returns it. Streamed bodies are captured as the reader consumes them, never ahead. */
export function captureResponse(response: HttpResponse, bodyBytes: number, observer: ExchangeObserver): HttpResponse {
  const capture = new BodyCapture(String(response.status), response.headers, bodyBytes);
  const { body } = response;
  const end = (): void => {
    capture.addTrailers(response.trailers?.());
    capture.end();
    observer.bodyProgressed();
  };
  if (!isStream(body)) {
    if (body !== undefined) capture.add(body);
    capture.end();
    observer.responseStarted(capture);
    return response;
  }
  observer.responseStarted(capture);
  const observedBody = watchIterable(body, {
    item: (chunk) => {
      capture.add(chunk);
      observer.bodyProgressed();
    },
    end,
  });
  return withBody(response, observedBody);
}

/** Applies `capture` now, or when the response arrives. */
export function onResponse(response: HttpResponse | Promise<HttpResponse>, capture: (response: HttpResponse) => HttpResponse) {
  return response instanceof Promise ? response.then(capture) : capture(response);
}
