/**
 * What a caller showed to get in, on its way to where it may be shown again. It cannot be printed: neither as JSON nor by an
 * inspector, so whatever writes a call down writes nothing of it.
 */
export class CallerCredential {
  readonly #authorization: string;

  constructor(authorization: string) {
    this.#authorization = authorization;
  }

  /** The token, where it is one that whoever bears it may use (RFC 6750). */
  bearerToken(): string | undefined {
    const [, token] = /^bearer +([\x21-\x7e]+)$/i.exec(this.#authorization) ?? [];
    return token;
  }

  toJSON(): undefined {
    return undefined;
  }
}
