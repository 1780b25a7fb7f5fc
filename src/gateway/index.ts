/** Between two messages: one protocol in front of another. */
export { type RelayOptions, relay } from "./relay.js";
