import type { Exchange, HttpResponse, RequestHead } from "../transport/exchange.js";

/** Adds what is known last to every response: the headers of the caller's admission, then the signature over all of it. */
export function finished(exchange: Exchange): Exchange {
  return (request) => {
    const response = exchange(request);
    return response instanceof Promise ? response.then((late) => finish(request, late)) : finish(request, response);
  };
}

function finish(request: RequestHead, response: HttpResponse): HttpResponse | Promise<HttpResponse> {
  const { admitted } = request;
  const head = admitted === undefined || admitted instanceof Promise ? undefined : admitted.head;
  const complete = head === undefined ? response : { ...response, headers: { ...response.headers, ...head } };
  return response.sign === undefined ? complete : signed(complete, response.sign, request);
}

async function signed(
  response: HttpResponse,
  sign: NonNullable<HttpResponse["sign"]>,
  request: RequestHead,
): Promise<HttpResponse> {
  return { ...response, headers: { ...response.headers, ...(await sign(response, request)) } };
}
