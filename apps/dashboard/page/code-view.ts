import { h } from "./dom.js";
import { fromBase64, hexDump } from "./hex-dump.js";
import { jsonTokens } from "./json-tokens.js";

/** Longer texts are not highlighted: thousands of elements would slow the page down. */
const COLOURED_TOKENS = 4_000;

/** Shows JSON indented and highlighted, other text unchanged. */
export function codeView(text: string, label: string): HTMLElement {
  const tokens = jsonTokens(text);
  const pre = h("pre", { class: "code", tabindex: 0, "aria-label": label });
  if (tokens === undefined) pre.textContent = text;
  else if (tokens.length > COLOURED_TOKENS) pre.textContent = tokens.map((token) => token.text).join("");
  else pre.append(...tokens.map(({ kind, text }) => (kind === "mark" ? text : h("span", { class: `json-${kind}` }, text))));
  return pre;
}

/** Shows binary content as a hex dump. */
export function bytesView(base64: string, label: string): HTMLElement {
  const data = fromBase64(base64);
  return h("pre", { class: "code hex", tabindex: 0, "aria-label": label }, data === undefined ? base64 : hexDump(data));
}
