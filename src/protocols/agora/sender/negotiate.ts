import { AgentError, type Cancel, type Maybe } from "../../../envelope/index.js";
import type { LanguageModel, ModelMessage } from "../../../router/models/index.js";
import { fingerprintOf } from "../documents/hash.js";
import { DOCUMENT_BYTES } from "../documents/library.js";
import { textInDataUri } from "../documents/sources.js";
import { type CatalogueMessage, type Offer, readCatalogueMessage, writeOffer } from "../negotiation/catalogue-message.js";
import { ROUNDS } from "../negotiation/state.js";
import { asData, DATA_RULE } from "../negotiation/untrusted.js";
import type { SenderTask } from "./options.js";

/** The inputs of the proposing side of a negotiation. */
export interface Negotiation {
  readonly task: SenderTask;
  /** The documents available for the task, best first. */
  readonly offers: readonly Offer[];
  readonly model: Maybe<LanguageModel>;
  /** Sends one message of the negotiation. */
  send(body: string): Promise<string>;
  readonly cancel: Cancel;
}

/**
 * The text of the agreed document; undefined if there was no agreement within the rounds. Known documents are offered first. If
 * the peer does not use the catalogue format, or has no match, the model negotiates in prose.
 */
export async function negotiate(negotiation: Negotiation): Promise<Maybe<string>> {
  const offered = await offerAll(negotiation);
  if (offered.agreed !== undefined || negotiation.model === undefined) return offered.agreed;
  return negotiateInProse(negotiation, negotiation.model, offered);
}

interface Offered {
  readonly agreed?: Maybe<string>;
  readonly rounds: number;
  /** The last reply of the peer, if it was prose. */
  readonly prose?: Maybe<string>;
}

async function offerAll({ offers, send }: Negotiation): Promise<Offered> {
  let rounds = 0;
  for (const offer of offers.slice(0, ROUNDS)) {
    rounds++;
    const reply = await send(writeOffer(offer));
    const message = readCatalogueMessage(reply);
    if (message === undefined) return { rounds, prose: reply };
    const agreed = await agreedBy(message, offer, offers);
    if (agreed !== undefined) return { rounds, agreed };
  }
  return { rounds };
}

/** The accepted offer, or the counter-proposal if this side knows that document. */
async function agreedBy(message: CatalogueMessage, offer: Offer, offers: readonly Offer[]): Promise<Maybe<string>> {
  if (message.kind === "accept") return message.hash === offer.hash ? offer.document : undefined;
  const proposed = message.kind === "offer" ? message.offer : message.counter;
  const own = offers.find(({ hash }) => hash === proposed?.hash)?.document;
  const theirs = proposed?.document ?? proposed?.sources?.map(textInDataUri).find((text) => text !== undefined);
  if (own === undefined || theirs === undefined) return own;
  // A hash collision: neither text is used.
  return (await fingerprintOf(own)).sha256 === (await fingerprintOf(theirs)).sha256 ? own : undefined;
}

const TASK = `You negotiate with a service how one kind of request to it and the reply are written, so exactly that a program can be made from it: a text goes out, a text comes back.
Keep it short and simple; take what the other side proposes if it can carry the task. You may use at most ${ROUNDS} messages.
When both sides agree, write nothing but the whole document between <FINALPROTOCOL> and </FINALPROTOCOL>. It begins with a section between two lines of --- that has the lines "name: …", "description: …" and "multiround: false" (true only if one request needs several messages); then purpose, form of the request, form of the reply, errors, an example.
${DATA_RULE}`;

/** Limit of the peer's text that the model is shown per message. */
const PEER_CHARACTERS = 16_000;
/** The opening message of the Python library, before any reply of the peer. */
const OPENING = "Hello! How may I help you?";

async function negotiateInProse(
  { task, send, cancel }: Negotiation,
  model: LanguageModel,
  before: Offered,
): Promise<Maybe<string>> {
  const system = `${TASK}\n${asData("THE TASK", JSON.stringify({ description: task.description, input: task.input, output: task.output }))}`;
  const messages: ModelMessage[] = [];
  let peerText = before.prose ?? OPENING;
  for (let round = before.rounds; round < ROUNDS; round++) {
    messages.push({ role: "user", content: asData("THE OTHER SIDE", peerText.slice(0, PEER_CHARACTERS)) });
    const modelText = await model.complete({ system, messages }, cancel);
    const document = finalProtocol(modelText);
    if (document !== undefined) return withinLimits(document);
    messages.push({ role: "assistant", content: modelText });
    peerText = await send(modelText);
  }
  return undefined;
}

function withinLimits(document: string): string {
  if (new TextEncoder().encode(document).byteLength <= DOCUMENT_BYTES) return document;
  throw new AgentError("too_large", `the document that was negotiated has more than ${DOCUMENT_BYTES} bytes`);
}

/** The document between the tags, in any letter case, trimmed as the Python library trims it before hashing. */
export function finalProtocol(text: string): Maybe<string> {
  const open = /<finalprotocol>/i.exec(text);
  if (open === null) return undefined;
  const rest = text.slice(open.index + open[0].length);
  const close = rest.search(/<\/finalprotocol>/i);
  return close === -1 ? undefined : rest.slice(0, close).trim() || undefined;
}
