import type { HttpRequest, HttpResponse } from "./exchange.js";
import { changeRequest } from "./request.js";

/** Signs the final request, sends it and checks the answer. Every sending has a signature of its own. */
export async function exchangeSigned(
  request: HttpRequest,
  send: (final: HttpRequest) => HttpResponse | Promise<HttpResponse>,
): Promise<HttpResponse> {
  const final = await signRequest(request);
  const response = await send(final);
  return request.signer?.verify === undefined ? response : request.signer.verify(response, final);
}

export async function signRequest(request: HttpRequest): Promise<HttpRequest> {
  const { signer } = request;
  if (signer === undefined) return request;
  return changeRequest(request, { headers: { ...request.headers, ...(await signer.sign(request)) } });
}
