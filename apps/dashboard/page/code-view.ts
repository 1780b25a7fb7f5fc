import { h } from "./dom.js";
import { fromBase64, hexDump } from "./hex-dump.js";
import { jsonTokens } from "./json-tokens.js";

/** Pieces beyond this are shown in one colour: thousands of elements would make a page slow. */
const COLOURED_TOKENS = 4_000;

/** A text as code: JSON indented and coloured, everything else as it is. */
export function codeView(text: string, label: string): HTMLElement {
  const tokens = jsonTokens(text);
  const pre = h("pre", { class: "code", tabindex: 0, "aria-label": label });
  if (tokens === undefined) pre.textContent = text;
  else if (tokens.length > COLOURED_TOKENS) pre.textContent = tokens.map((token) => token.text).join("");
  else pre.append(...tokens.map(({ kind, text }) => (kind === "mark" ? text : h("span", { class: `json-${kind}` }, text))));
  return pre;
}

/** Bytes that are no text. */
export function bytesView(base64: string, label: string): HTMLElement {
  const data = fromBase64(base64);
  return h("pre", { class: "code hex", tabindex: 0, "aria-label": label }, data === undefined ? base64 : hexDump(data));
}
