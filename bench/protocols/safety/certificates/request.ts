/** A certificate, or a chain of them, and its private key, as PEM text. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate says. */
export interface CertificateRequest {
  /** DNS names and addresses; the first is also the common name. */
  readonly hosts: readonly string[];
  /** For client authentication instead of server authentication. */
  readonly client?: boolean;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

const DAY_MS = 86_400_000;

/** From a day ago until tomorrow, where nothing else is requested. */
export function validity({ notBefore, notAfter }: Pick<CertificateRequest, "notBefore" | "notAfter"> = {}) {
  return { notBefore: notBefore ?? new Date(Date.now() - DAY_MS), notAfter: notAfter ?? new Date(Date.now() + DAY_MS) };
}
