import type { Primitives } from "../features.js";

/** What carries the one toggle of a link that Agora has something for; receipts and artifacts are our own addition to it. */
export const primitives: Primitives = {
  "state-sync": "a conversation: the receiver gives it an id, keeps what was said, and takes more at /conversations/{id}",
};
