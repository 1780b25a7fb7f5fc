/** The credential a caller presented, for forwarding it. Never printed by JSON or an inspector, so that logs cannot contain it. */
export class CallerCredential {
  readonly #authorization: string;

  constructor(authorization: string) {
    this.#authorization = authorization;
  }

  /** The token, if the credential is a bearer token (RFC 6750). */
  bearerToken(): string | undefined {
    const [, token] = /^bearer +([\x21-\x7e]+)$/i.exec(this.#authorization) ?? [];
    return token;
  }

  toJSON(): undefined {
    return undefined;
  }
}
