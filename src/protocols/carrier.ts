/** How a protocol carries what another one above it signs and seals, in its newest version. */
export interface Carrier {
  readonly binding: string;
  /** Request headers with content, in clear or as base64url of JSON: a signature of a request covers them. */
  readonly contentHeaders: readonly string[];
}
