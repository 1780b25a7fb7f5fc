import { SEALED_TYPE } from "../../src/envelope/index.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import type { HttpRequest, HttpResponse, Link } from "../../src/transport/exchange.js";
import { poolLink } from "../../src/transport/node/index.js";
import { makeRequest } from "../../src/transport/request.js";
import { signRequest } from "../../src/transport/sign.js";
import { type SageWorld, SETTINGS, UNSEALED } from "./world.js";

/** A request as somebody on the way has it. */
export interface Sent {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** The request with a message to `to`, as the caller signed it. It was not sent. */
export async function capturedSend(
  world: SageWorld,
  to: string,
  identity: LocalIdentity,
  { text = "hello", sealed = false } = {},
): Promise<Sent> {
  const link = capturingLink(sealed ? SEALED_TYPE : '"SendMessage"');
  const peer = await world.connect(to, identity, { link, settings: sealed ? SETTINGS : UNSEALED });
  await peer.send(text).catch(() => undefined);
  const [request] = link.captured;
  if (request === undefined) throw new Error("nothing was sent");
  const headers = Object.entries(request.headers).filter((each): each is [string, string] => each[1] !== undefined);
  return { url: request.target, headers: Object.fromEntries(headers), body: Buffer.from(request.body).toString() };
}

/** A link that keeps the signed request with a message instead of sending it: what somebody on the way has. */
function capturingLink(marker: string): Link & { readonly captured: HttpRequest[] } {
  const link = poolLink();
  const captured: HttpRequest[] = [];
  return {
    captured,
    async exchange(request) {
      if (!Buffer.from(request.body).includes(marker)) return link.exchange(request);
      captured.push(await signRequest(request));
      throw new Error("captured");
    },
    close: () => link.close(),
  };
}

/** A link on which somebody changes answers before the caller verifies them. */
export function alteringLink(
  change: (response: HttpResponse, request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  marker = "Message",
): Link {
  const link = poolLink();
  return {
    async exchange(request) {
      if (!Buffer.from(request.body).includes(marker)) return link.exchange(request);
      const final = await signRequest(request);
      const { method, target, headers, body, call } = final;
      const answer = await link.exchange(makeRequest({ method, url: target, headers, body, call }));
      const changed = await change({ status: answer.status, headers: answer.headers, body: answer.body }, final);
      return request.signer?.verify === undefined ? changed : request.signer.verify(changed, final);
    },
    close: () => link.close(),
  };
}
