import { createHash } from "node:crypto";
import type { Card, Interface, Json, RemoteAgent, Skill } from "../../src/index.js";
import { describeCardSignature } from "../../src/internal.js";
import { type CardSignatureResult, createCardCheck } from "../../src/public/auth.js";
import { type PeerOptions, type PeerSession, withPeer } from "./peer.js";
import { oneLine, printable } from "./printable.js";
import { securityLines } from "./scheme.js";

interface CardOptions extends PeerOptions {
  readonly extended?: boolean;
}

/** `koine card get`. */
export async function getCard(url: string, options: CardOptions): Promise<void> {
  const run = async ({ peer, interrupt, output }: PeerSession): Promise<void> => {
    const card = options.extended === true ? await interrupt.race(peer.extendedCard()) : peer.card;
    const shown = { peer, card, signature: await signatureOf(card) };
    if (output.format === "json") await output.document(cardJson(shown));
    else await output.text(describeCard(shown));
  };
  // The evidence is part of the answer, with or without --verbose.
  await withPeer(url, { ...options, verbose: false }, run);
}

interface CardView {
  readonly peer: RemoteAgent;
  readonly card: Card;
  readonly signature: CardSignatureResult;
}

/** The result of discovery; without trusted keys it still shows whether the card is signed. */
async function signatureOf({ original }: Card): Promise<CardSignatureResult> {
  const by = original?.verifiedBy;
  return by === undefined ? createCardCheck()(original?.bytes) : { result: "verified", by };
}

function cardJson({ peer, card, signature }: CardView): Json {
  return {
    url: peer.url,
    protocol: peer.protocol,
    version: peer.version,
    binding: peer.binding,
    proved: peer.verified,
    evidence: peer.evidence,
    signature: signature.result === "verified" ? { result: signature.result, by: signature.by } : { result: signature.result },
    interfaces: card.interfaces.map(interfaceJson),
    ways: peer.interfaces.map(interfaceJson),
    card: originalOf(card) ?? neutralCard(card),
  };
}

function interfaceJson({ protocol, version, binding, url }: Interface): Json {
  return { protocol, version, binding, url };
}

/** The document as received; undefined if it is not JSON. */
function originalOf({ original }: Card): Json | undefined {
  if (original === undefined) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(original.bytes)) as Json; // JSON.parse gives JSON
  } catch {
    return undefined;
  }
}

function neutralCard({ original: _bytes, ...card }: Card): Json {
  return JSON.parse(JSON.stringify(card)) as Json; // plain data, so its JSON is JSON
}

function describeCard({ peer, card, signature }: CardView): string {
  const lines = [line(`${card.name} ${card.version}`).trim(), printable(card.description)].filter((text) => text !== "");
  lines.push("");
  if (card.provider !== undefined) lines.push(`provider    ${line(card.provider.organization)} ${line(card.provider.url)}`);
  lines.push(
    `speaks      ${peer.protocol}@${peer.version} ${peer.binding}${peer.verified ? ", verified by a live answer" : ", not verified"}`,
  );
  lines.push(...list("interfaces", interfaceLines(peer, card)));
  lines.push(...list("skills", card.skills.map(skillLine)));
  lines.push(...list("documents", documentLines(card.skills)));
  lines.push(...list("takes", [card.inputModes.join(", ")]), ...list("gives", [card.outputModes.join(", ")]));
  lines.push(`can         ${abilities(card)}`);
  lines.push(...list("security", securityLines(card.security)));
  lines.push(...list("signature", [describeCardSignature(signature)]));
  lines.push(...list("evidence", peer.evidence));
  return `${lines.join("\n")}\n`;
}

/** The interfaces of the card, and other protocols discovered at the address. */
function interfaceLines(peer: RemoteAgent, { interfaces }: Card): readonly string[] {
  const others = peer.interfaces.filter(({ protocol }) => interfaces.every((named) => named.protocol !== protocol));
  return [...interfaces, ...others].map(({ protocol, version, binding, url }) => `${protocol}@${version} ${binding} ${url}`);
}

function skillLine({ id, name, description }: Skill): string {
  return `${name === id ? id : `${id} (${name})`}${description === "" ? "" : `: ${description}`}`;
}

/** Documents are identified by the SHA-1 of their exact text; `-o json` has the text. */
function documentLines(skills: readonly Skill[]): readonly string[] {
  return skills.flatMap(({ id, document }) => {
    if (document === undefined) return [];
    return [`${createHash("sha1").update(document).digest("base64")} ${id}, ${Buffer.byteLength(document)} bytes`];
  });
}

function list(title: string, given: readonly string[]): readonly string[] {
  const items = given.filter((item) => item !== "");
  return items.map((item, index) => `${(index === 0 ? title : "").padEnd(11)} ${line(item)}`);
}

function line(text: string): string {
  return oneLine(text, 500);
}

function abilities({ capabilities }: Card): string {
  const { streaming, push, extended, idempotentSend, resume, extensions } = capabilities;
  const named = {
    streaming,
    "push notifications": push,
    "an extended card": extended,
    "idempotent send": idempotentSend,
    "resume from a cursor": resume,
  };
  const can = Object.entries(named).flatMap(([name, able]) => (able ? [name] : []));
  return line([...can, ...extensions.map(({ uri }) => uri)].join(", ")) || "answer";
}
