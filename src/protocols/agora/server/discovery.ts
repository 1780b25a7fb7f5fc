import type { Card, Extension, JsonObject, Maybe } from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { OWN_CARD_KEY, writeOwnCard } from "../../own-card.js";
import type { Host } from "../../protocol.js";
import { DOCUMENT_BYTES, type DocumentLibrary, type KnownDocument } from "../documents/library.js";
import { MOST_SOURCES } from "../documents/sources.js";
import type { AgoraSettings } from "../settings.js";
import type { KeywordResponder } from "./keywords.js";
import { PROTOCOLS } from "./paths.js";
import type { Routines } from "./routines.js";

/** The inputs of discovery. */
export interface DiscoveryTools {
  readonly host: Host;
  readonly settings: AgoraSettings;
  readonly routines: Routines;
  readonly keywords?: Maybe<KeywordResponder>;
  /** A model follows documents here, so chosen ones that it rated adequate are supported too. */
  readonly followsDocuments: boolean;
  library(): Maybe<DocumentLibrary>;
}

/** A supported document, with the skill that implements it, if any. */
type Supported = KnownDocument & { readonly skill?: Maybe<string> };

/**
 * The supported documents: those with a routine, and those that the operator chose and a model was rated able to follow.
 * Documents received in messages are followed, but never published or offered.
 */
export async function supportedDocuments(
  tools: DiscoveryTools,
  agent: Maybe<string>,
  base: string,
): Promise<readonly Supported[]> {
  const routines = (await tools.routines.all()).filter((each) => agent === undefined || each.agent === agent);
  const followed = tools.followsDocuments ? ((await tools.library()?.adequate()) ?? []) : [];
  const own = (hash: string): string => `${base}${PROTOCOLS}${encodeURIComponent(hash)}`;
  return [
    ...routines.map((routine): Supported => ({ ...routine, sources: [own(routine.hash)], addedAt: 0, learned: false })),
    ...followed
      .filter(({ hash }) => routines.every((routine) => routine.hash !== hash))
      .map((document) => ({ ...document, sources: [own(document.hash), ...document.sources] })),
  ];
}

/** Capabilities that Agora does not offer. */
const LACKING = { streaming: false, push: false, extended: false, resume: false } as const;

/** The Koine discovery document: everything a Koine client needs before its first message. */
export function ownDocument(
  { host, settings, keywords }: DiscoveryTools,
  card: Card,
  url: string,
  documents: readonly Supported[],
): JsonObject {
  const { extensions } = card.capabilities;
  return {
    koine: 1,
    name: card.name,
    description: card.description,
    version: card.version,
    url,
    dialect: settings.dialect,
    naturalLanguage: settings.naturalLanguage,
    skills: card.skills.map(({ id, name, description, tags, examples, inputModes, outputModes }) => ({
      id,
      name,
      description,
      tags,
      examples,
      inputModes,
      outputModes,
    })),
    inputModes: card.inputModes,
    outputModes: card.outputModes,
    limits: {
      bodyBytes: Math.min(host.limits.bodyBytes, host.limits.jsonBytes),
      documentBytes: DOCUMENT_BYTES,
      sources: MOST_SOURCES,
      conversationMs: settings.conversationMs,
      conversations: settings.maxConversations,
      replyWithinMs: settings.replyWithinMs,
    },
    keywordRules: keywords?.rules.map(({ name, words }) => ({ name, words })),
    protocols: Object.fromEntries(
      documents.map(({ hash, sources, name, description, multiround, sha256, skill }) => [
        hash,
        { sources, name, description, multiround, sha256, skill },
      ]),
    ),
    ...(extensions.length === 0 ? undefined : { extensions: extensions.map(extensionMembers) }),
    [OWN_CARD_KEY]: writeOwnCard({ ...card, capabilities: { ...card.capabilities, ...LACKING } }),
  };
}

function extensionMembers({ uri, description, required, params }: Extension): JsonObject {
  return { uri, description, required, params };
}

/** Each hash with its sources, as in the specification and the demonstration. */
export function sourcesByHash(documents: readonly Supported[]): JsonObject {
  return Object.fromEntries(documents.map(({ hash, sources }) => [hash, sources]));
}

/** The exact text of a published document. Documents learned from messages are not published. */
export async function publishedText(tools: DiscoveryTools, hash: string): Promise<Maybe<string>> {
  const routine = await tools.routines.find(hash, undefined);
  if (routine !== undefined) return routine.text;
  const known = await tools.library()?.get(hash);
  return known?.learned === false ? known.text : undefined;
}

/** The base URL of the request. */
export function baseUrl(host: Host, request: HttpRequest, base: string): string {
  return `${host.publicUrl(request)}${base}`;
}
