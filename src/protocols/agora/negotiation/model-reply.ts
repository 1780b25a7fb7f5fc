import { AgentError, type Cancel, type Maybe } from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";
import type { CatalogueDocument } from "./catalogue.js";
import { latestTurns, type NegotiationState } from "./state.js";
import { asData, DATA_RULE } from "./untrusted.js";

/** Limit of the prose of one message; ten rounds of it are remembered. */
export const PROSE_CHARACTERS = 8_000;

const TASK = `You negotiate on behalf of a service with somebody who wants to use it. Together you settle how one request and one reply of a certain kind are written, so exactly that a program can be made from it: a text comes in, a text goes out.
Keep it short and simple. Agree only to what the service can do by what is said about it below; if it has a fitting document already, propose that one word for word. Say plainly when you agree, without repeating what was settled. Never claim abilities that are not listed.
${DATA_RULE}`;

export interface Prose {
  readonly state: NegotiationState;
  readonly text: string;
  readonly catalogue: readonly CatalogueDocument[];
  readonly about: Maybe<string>;
}

/** The reply of the model to a message in prose. */
export async function modelReply(
  model: LanguageModel,
  { state, text, catalogue, about }: Prose,
  cancel: Cancel,
): Promise<{ readonly state: NegotiationState; readonly body: string }> {
  if (text.length > PROSE_CHARACTERS) {
    throw new AgentError("too_large", `a message of a negotiation in prose has at most ${PROSE_CHARACTERS} characters`);
  }
  const prompt = { role: "user", content: asData("THE OTHER SIDE", text) } as const;
  const body = await model.complete({ system: systemFor(catalogue, about), messages: [...state.turns, prompt] }, cancel);
  if (body.length > PROSE_CHARACTERS) throw new AgentError("internal", "the language model of this side could not be brief");
  return { state: { ...state, turns: latestTurns([...state.turns, prompt, { role: "assistant", content: body }]) }, body };
}

/** Names and descriptions only, to keep the prompt short. */
function systemFor(catalogue: readonly CatalogueDocument[], about: Maybe<string>): string {
  const documents = catalogue.map(({ hash, name, description }) => `${hash} ${name}: ${description}`).join("\n");
  const service = asData("THE SERVICE", about ?? "nothing more is known about it");
  return `${TASK}\n${service}\n${asData("ITS DOCUMENTS", documents === "" ? "none" : documents)}`;
}
