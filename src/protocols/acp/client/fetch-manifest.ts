import type { Call, Card, Maybe } from "../../../envelope/index.js";
import { bytesOf } from "../../../transport/body.js";
import { type HttpResponse, isStream, type Link } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { decodeManifest } from "../codec/manifest.js";
import { answerIn, requestFor } from "./ask.js";

export interface FetchedManifest {
  readonly card: Card;
  readonly etag: Maybe<string>;
}

/** The manifest of one agent. Throws the error of the peer; `not_found` if there is no such agent. */
export async function fetchManifest(link: Link, url: string, call: Call): Promise<FetchedManifest> {
  const response = await link.exchange(requestFor({ method: "GET", url }, call));
  return { card: manifestIn(response), etag: response.headers["etag"] };
}

/** The card of a response, with the document as received. */
export function manifestIn(response: HttpResponse): Card {
  const body = answerIn(response, {});
  try {
    return decodeManifest(body, bodyOf(response));
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}

function bodyOf({ body }: HttpResponse): Uint8Array {
  return body === undefined || isStream(body) ? new Uint8Array() : bytesOf(body);
}
