/** The seed's plain form: `POST /agora` and `POST /conversations/{id}`, without documents and without an end. */
export const PLAIN = { version: "plain", binding: "PLAIN" } as const;
