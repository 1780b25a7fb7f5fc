export type TokenKind = "key" | "string" | "number" | "word" | "mark";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const PIECE = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)|([^"\-\dtfn]+|.)/gs;

/** Tokens of the indented JSON for highlighting; undefined if the text is not JSON. */
export function jsonTokens(text: string): readonly Token[] | undefined {
  let pretty: string;
  try {
    pretty = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
  return Array.from(pretty.matchAll(PIECE), tokens).flat();
}

function tokens([whole, quoted, colon, number, word]: RegExpMatchArray): readonly Token[] {
  if (quoted !== undefined && colon !== undefined)
    return [
      { kind: "key", text: quoted },
      { kind: "mark", text: colon },
    ];
  if (quoted !== undefined) return [{ kind: "string", text: quoted }];
  if (number !== undefined) return [{ kind: "number", text: number }];
  return [{ kind: word === undefined ? "mark" : "word", text: whole }];
}
