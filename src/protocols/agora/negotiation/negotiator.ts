import { AgentError, type Cancel, type JsonObject, type Maybe, type Principal } from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";
import { answerByCatalogue, type CatalogueDocument } from "./catalogue.js";
import { readCatalogueMessage } from "./catalogue-message.js";
import { modelReply } from "./model-reply.js";
import { type NegotiationState, NO_ROUNDS, ROUNDS, readState } from "./state.js";

export interface NegotiatorOptions {
  /** The documents that are chosen by the operator or have a routine. No other document is accepted. */
  catalogue(): readonly CatalogueDocument[] | Promise<readonly CatalogueDocument[]>;
  /** Negotiates with peers that use prose. Default: none; the reply then lists the catalogue. */
  readonly model?: Maybe<LanguageModel>;
  /** What this agent can do, as text for the model. */
  readonly about?: Maybe<string>;
}

/**
 * The answering side of a negotiation. The state is JSON, so that a conversation survives restarts and moves between replicas.
 */
interface Negotiator {
  open(caller: Principal): NegotiationState;
  reply(state: JsonObject, text: string, cancel: Cancel): Promise<{ readonly state: NegotiationState; readonly body: string }>;
}

/** Limit of one negotiation message, in characters. */
const MESSAGE_CHARACTERS = 80_000;

/**
 * Catalogue offers are always answered from the catalogue: it is free and cannot be manipulated. Everything else goes to the
 * model; without one, the reply lists the catalogue.
 */
export function negotiatorFor(options: NegotiatorOptions): Negotiator {
  return {
    open: () => NO_ROUNDS,
    async reply(given, text, cancel) {
      if (text.length > MESSAGE_CHARACTERS) {
        throw new AgentError("too_large", `a message of a negotiation has at most ${MESSAGE_CHARACTERS} characters`);
      }
      const before = readState(given);
      if (before.round >= ROUNDS) return { state: before, body: ENDED };
      const state = { ...before, round: before.round + 1 };
      const catalogue = await options.catalogue();
      const message = readCatalogueMessage(text);
      if (message === undefined && options.model !== undefined) {
        return modelReply(options.model, { state, text, catalogue, about: options.about }, cancel);
      }
      return answerByCatalogue(state, message, catalogue);
    },
  };
}

const ENDED = JSON.stringify({ end: `a negotiation has at most ${ROUNDS} rounds; nothing was agreed on` });
