import { at, notAnError, type Sent, type Tree, type Wire } from "./wire.js";

/** Agora as the Python library's sender writes it. */

/** A request in natural language; a document's hash and other members in `more`. */
export const agoraBody = (words: string, more: Tree = {}): Tree => ({
  protocolHash: null,
  protocolSources: [],
  body: words,
  ...more,
});

export function postAgora(path: string, body: unknown): Sent {
  return { method: "POST", path, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** Our own extension: reads or cancels a piece of work. */
const errand = (metadata: Tree): Sent => postAgora("/agora", { protocolHash: null, metadata: { koine: 1, ...metadata } });

/** One address that receives messages; it may be known only when something is sent. */
export function agoraWire(name: string, path: () => string): Wire {
  return {
    name,
    parts: "parts",
    params: (words) => agoraBody(words),
    send: (params) => postAgora(path(), params),
    getTask: (id) => errand({ receipt: { id } }),
    cancelTask: (id) => errand({ cancel: id }),
    text: (answer) => at(answer, "body"),
    taskId: (answer) => String(at(answer, "metadata", "receipt", "id")),
    refused(status, body) {
      const [word, message, same] = [at(body, "status"), at(body, "message"), at(body, "body")];
      // The library's sender treats any response with 200 as the answer.
      if (word !== "error" || typeof message !== "string" || message !== same || status < 400) throw notAnError(status, body);
      return { code: status, message };
    },
  };
}

export const AGORA = agoraWire("Agora", () => "/agora");
