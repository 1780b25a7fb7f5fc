import type { Primitives } from "../features.js";

/** Agora's primitives for link options. Receipts and artifacts are Koine extensions. */
export const primitives: Primitives = {
  "state-sync":
    "a conversation: the receiver assigns an id, keeps the history, and accepts further messages at /conversations/{id}",
};
