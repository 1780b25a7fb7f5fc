import type { Call } from "../envelope/index.js";
import { type HttpResponse, isStream, type Link } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";

/**
 * Whether a server has a path for POST, found out without sending a message: GET is refused there with 405, or OPTIONS lists
 * POST. A server that answers so at every path has told nothing about this one.
 */
export async function takesPosts(link: Link, url: string, call: Call): Promise<boolean> {
  const elsewhere = `${url}-${crypto.randomUUID()}`;
  const refused = await ask(link, "GET", url, call);
  if (refused.status === 405 && allows(refused) !== false) return (await ask(link, "GET", elsewhere, call)).status !== 405;
  if (refused.status !== 404) return false;
  return (await listsPost(link, url, call)) && !(await listsPost(link, elsewhere, call));
}

async function listsPost(link: Link, url: string, call: Call): Promise<boolean> {
  const answer = await ask(link, "OPTIONS", url, call);
  return answer.status < 300 && allows(answer) === true;
}

async function ask(link: Link, method: "GET" | "OPTIONS", url: string, call: Call): Promise<HttpResponse> {
  const response = await link.exchange(makeRequest({ method, url, headers: { accept: "application/json" }, call }));
  if (isStream(response.body)) await response.body[Symbol.asyncIterator]().return?.();
  return response;
}

/** Undefined if the response does not say. */
function allows({ headers }: HttpResponse): boolean | undefined {
  const allow = headers["allow"];
  return allow === undefined ? undefined : /\bPOST\b/i.test(allow);
}
