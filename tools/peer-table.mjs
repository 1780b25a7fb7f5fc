// The table of peers and operations in docs/peers.md, made of the results that the interop tests compare themselves with.
import { readFileSync } from "node:fs";

const CHECKS = ["send", "stream", "get", "list", "cancel", "subscribe", "push", "unknown"];

/** ✓, –, or the number of a note. Equal notes have one number. */
export function peerTable(tableOf) {
  const rows = JSON.parse(readFileSync("test/interop/peers.json", "utf8"));
  const notes = [];
  const noteOf = (text) => {
    if (!notes.includes(text)) notes.push(text);
    return String(notes.indexOf(text) + 1);
  };
  const cell = (verdict) => (verdict === undefined ? "–" : verdict === "ok" ? "✓" : noteOf(verdict));
  const table = tableOf(
    ["peer", "", "binding", ...CHECKS],
    rows.map(({ peer, way, binding, checks }) => [peer, way, binding, ...CHECKS.map((check) => cell(checks[check]))]),
  );
  const explained = notes.map((text, index) => `${index + 1}. \`${text.replaceAll("`", "'")}\``);
  return explained.length === 0 ? table : `${table}\n\n${explained.join("\n")}`;
}
