import type { Maybe } from "../../envelope/index.js";

/**
 * Encodes names so that a database can store and compare them byte by byte: the order of code units and prefixes are
 * preserved, and the encoding is injective. Plain UTF-8 sorts surrogates differently and cannot encode a lone one, and
 * SQLite ends a text at a NUL.
 */
const LAST_LOW = 0x1;
const FIRST_HIGH = 0xd8_00;
/** Prefix of every escaped unit. It sorts where the unit does; the next character identifies the unit. */
const LOW_MARK = "\u0001";
const LOW_BASE = 0x1;
const HIGH_MARK = "\ue000";
const HIGH_BASE = 0x1_00;
/** Sorts after every text with the given prefix. */
const AFTER_ALL = "\u{10ffff}";

export function orderedText(name: string): string {
  let text = "";
  let done = 0;
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    if (unit > LAST_LOW && unit < FIRST_HIGH) continue;
    text += name.slice(done, at) + marked(unit);
    done = at + 1;
  }
  return done === 0 ? name : text + name.slice(done);
}

export function nameOfOrdered(text: string): string {
  let name = "";
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark !== LOW_MARK && mark !== HIGH_MARK) continue;
    const which = text.charCodeAt(at + 1);
    const unit = mark === LOW_MARK ? which - LOW_BASE : which - HIGH_BASE + FIRST_HIGH;
    name += text.slice(done, at) + String.fromCharCode(unit);
    at += 1;
    done = at + 1;
  }
  return done === 0 ? text : name + text.slice(done);
}

/** The first name of a page: nothing sorts between a name and the same name followed by NUL. */
export function firstBehind(prefix: string, after: Maybe<string>): string {
  const next = after === undefined ? prefix : `${after}\0`;
  return next > prefix ? next : prefix;
}

/** The range in database order: `from` is inclusive, `to` exclusive. */
export function orderedRange(prefix: string, after: Maybe<string>): { readonly from: string; readonly to: string } {
  return { from: orderedText(firstBehind(prefix, after)), to: orderedText(prefix) + AFTER_ALL };
}

function marked(unit: number): string {
  if (unit <= LAST_LOW) return LOW_MARK + String.fromCharCode(unit + LOW_BASE);
  return HIGH_MARK + String.fromCharCode(unit - FIRST_HIGH + HIGH_BASE);
}
