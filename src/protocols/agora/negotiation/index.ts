/** The answering side of a talk about which document to use. */
export { type Negotiator, type NegotiatorOptions, negotiatorFor } from "./negotiator.js";
