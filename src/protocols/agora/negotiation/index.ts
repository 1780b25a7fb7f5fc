/** The server side of protocol negotiation. */
export { type Negotiator, type NegotiatorOptions, negotiatorFor } from "./negotiator.js";
