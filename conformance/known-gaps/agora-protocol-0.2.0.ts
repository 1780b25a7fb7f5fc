import type { KnownGaps } from "../run.js";

const FORWARDED = "hands any JSON value to the model as if it were a text";
const SWITCH = "reads nothing but the body of a further message, so another hash is not noticed";
const ALWAYS_200 = "answers every error at / with 200";
const INNER = "the text of any exception is the error's message";

/** Where the receiver of PyPI `agora-protocol` 0.2.0 falls short, each looked at by hand. */
export const agoraProtocol020Gaps: KnownGaps = {
  "agora:0.2:natural:at-agora": "serves the root only; /agora is the seed's name",
  "agora:0.2:natural:sources-absent": "wants the member protocolSources even where there is nothing to say",
  "agora:0.2:document:dead-source": "a source that cannot be reached ends the search, even if a later one has the document",
  "agora:0.2:document:without-front-matter": "cannot read a document without front matter",
  "agora:0.2:conversation:no-switch": SWITCH,
  "agora:0.2:negotiation:no-switch": SWITCH,
  "agora:0.2:conversation:survives-bad-input": "a further message without a body is a 500 in HTML",
  "agora:0.2:error:body-too": "has no body in an error, which its own sender then misses",
  "agora:0.2:error:not-200": ALWAYS_200,
  "agora:0.2:error:conversation-not-found-status": ALWAYS_200,
  "agora:0.2:input:other-type-status": ALWAYS_200,
  "agora:0.2:error:in-words": INNER,
  "agora:0.2:ssrf:tells-nothing": INNER,
  "agora:0.2:ssrf:loopback": "fetches any address that a message names",
  "agora:0.2:input:body-null": FORWARDED,
  "agora:0.2:input:body-number": FORWARDED,
  "agora:0.2:input:body-object": FORWARDED,
  "agora:0.2:input:multiround-text": "takes anything that Python takes for true",
};
