import { AgentError, type Card, isObject, type Json, type JsonObject, type Maybe } from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";
import type { KnownDocument } from "../documents/library.js";
import { latestTurns, type Turn } from "../negotiation/state.js";
import { asData, DATA_RULE } from "../negotiation/untrusted.js";
import type { IncomingMessage, Responder } from "./incoming-message.js";

/** Limit of one message of a conversation. */
const TURN_CHARACTERS = 8_000;

/** A model that answers for an agent, in natural language or by a document. */
export function modelResponder(model: LanguageModel, card: Card, document: Maybe<KnownDocument>): Responder {
  const system = `${document === undefined ? BY_WORDS : BY_DOCUMENT}\n${DATA_RULE}\n${asData("THE SERVICE", aboutAgent(card))}`;
  return {
    async reply(state, text, { call }: IncomingMessage) {
      if (text.length > TURN_CHARACTERS)
        throw new AgentError("too_large", `a message for the language model has at most ${TURN_CHARACTERS} characters`, {
          field: "body",
        });
      const incoming: Turn = { role: "user", content: asData("THE OTHER SIDE", text) };
      const turns = [...turnsIn(state), incoming];
      const body = await model.complete({ system, messages: [...opening(document), ...turns] }, call.cancel);
      const answered: Turn = { role: "assistant", content: body.slice(0, TURN_CHARACTERS) };
      return { state: { turns: latestTurns([...turns, answered]).map((turn) => ({ ...turn })) }, body };
    },
  };
}

const BY_WORDS =
  "You answer messages of other agents on behalf of a service. Answer in plain text, briefly, and only what the service can know. Say so when you cannot answer.";
const BY_DOCUMENT =
  "You answer messages of other agents on behalf of a service. Your first message shows a protocol document: write every reply exactly in the format it prescribes, and nothing around it. Use the error format it prescribes where you cannot answer.";

function opening(document: Maybe<KnownDocument>): readonly Turn[] {
  return document === undefined ? [] : [{ role: "user", content: asData("THE PROTOCOL DOCUMENT", document.text) }];
}

/** Describes an agent for a model prompt. */
export function aboutAgent({ name, description, skills }: Card): string {
  return [`${name}: ${description}`, ...skills.map((skill) => `${skill.name}: ${skill.description}`)].join("\n");
}

/**
 * Whether the model can follow the document for this agent. Called once per text. The rule of the Python library: `yes` within
 * the last ten characters.
 */
export async function isJudgedSuitable(
  model: LanguageModel,
  card: Card,
  document: KnownDocument,
  incoming: IncomingMessage,
): Promise<boolean> {
  const system = `${CHECK}\n${DATA_RULE}\n${asData("THE SERVICE", aboutAgent(card))}`;
  const messages = [{ role: "user", content: asData("THE PROTOCOL DOCUMENT", document.text) } as const];
  const judgement = await model.complete({ system, messages }, incoming.call.cancel);
  return judgement.slice(-10).toLowerCase().includes("yes");
}

const CHECK =
  "Decide whether a service is able to answer requests that follow a protocol document, with nothing but what is said about the service. Think briefly. End with YES or NO.";

function turnsIn(state: Maybe<JsonObject>): readonly Turn[] {
  const turns = state?.["turns"];
  return Array.isArray(turns) ? (turns as readonly Json[]).flatMap((turn) => turnIn(turn) ?? []) : [];
}

function turnIn(value: Json): Maybe<Turn> {
  if (!isObject(value) || typeof value["content"] !== "string") return undefined;
  const { role, content } = value;
  return role === "user" || role === "assistant" ? { role, content } : undefined;
}
