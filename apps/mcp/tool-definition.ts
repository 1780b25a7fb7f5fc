import type { Tool } from "@modelcontextprotocol/server";
import type { Card, Maybe, Skill } from "../../src/index.js";
import { LIMITS } from "./limits.js";
import { plainLine, plainText } from "./plain-text.js";

const SKILLS_SHOWN = 12;
const EXAMPLES_SHOWN = 3;
const TITLE_CHARS = 100;
const SKILL_CHARS = 300;

const INPUT: Tool["inputSchema"] = {
  type: "object",
  properties: {
    message: {
      type: "string",
      description: "The message to the agent. May be empty with `data` or `files`, or with `task` to wait for its end.",
    },
    session: { type: "string", description: "Continues a conversation: the `session` of an earlier result." },
    task: {
      type: "string",
      description: "The `taskId` of an earlier result: answers its question, or waits for its end if the message is empty.",
    },
    data: { type: "object", description: "A JSON object for the agent, in addition to the message." },
    files: {
      type: "array",
      maxItems: LIMITS.files,
      description: "Files for the agent, each as bytes or as a URL.",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          mediaType: { type: "string", description: "For example image/png." },
          base64: { type: "string", description: "The bytes. Either this or `url`." },
          url: { type: "string", description: "URL of the file." },
        },
        additionalProperties: false,
      },
    },
  },
  required: ["message"],
  additionalProperties: false,
};

const OUTPUT: NonNullable<Tool["outputSchema"]> = {
  type: "object",
  properties: {
    state: {
      type: "string",
      description: "completed, input-required, auth-required, failed, rejected, canceled, working or unknown.",
    },
    text: { type: "string" },
    taskId: { type: "string" },
    session: { type: "string" },
    data: { type: "array", description: "The JSON values of the answer." },
    artifacts: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          name: { type: "string" },
          description: { type: "string" },
          mediaTypes: { type: "array", items: { type: "string" } },
        },
        required: ["id"],
      },
    },
    error: {
      type: "object",
      properties: { code: { type: "string" }, message: { type: "string" }, hint: { type: "string" } },
      required: ["code", "message"],
    },
    omitted: { type: "array", items: { type: "string" }, description: "Parts that were omitted, and why." },
  },
  required: ["state", "text"],
};

/** The tool for an agent or for one of its skills. Descriptions from a card are marked as the agent's own claims. */
export function toolDefinition(name: string, card: Card, skill: Maybe<Skill>): Tool {
  const title = plainLine(skill === undefined ? card.name : `${card.name}: ${skill.name}`, TITLE_CHARS);
  return {
    name,
    title,
    description: plainText(skill === undefined ? aboutAgent(card) : aboutSkill(card, skill), LIMITS.descriptionChars),
    inputSchema: INPUT,
    outputSchema: OUTPUT,
    // The effects of an agent are unknown, so no hint claims that it is safe.
    annotations: { title, readOnlyHint: false, idempotentHint: false, openWorldHint: true },
  };
}

function aboutAgent({ name, description, skills }: Card): string {
  const shown = skills.filter((skill) => skill.description !== description || skill.name !== name).slice(0, SKILLS_SHOWN);
  const lines = shown.map((skill) => `- ${plainLine(`${skill.name}: ${skill.description}`, SKILL_CHARS)}`);
  const left = skills.length - SKILLS_SHOWN;
  return [
    `Sends a message to the agent ${quoted(name)}. Its own description: ${plainText(description, LIMITS.descriptionChars / 2)}`,
    ...(lines.length === 0 ? [] : ["Its skills:", ...lines]),
    ...(left > 0 ? [`and ${left} more.`] : []),
  ].join("\n");
}

function aboutSkill({ name }: Card, { name: skill, description, examples = [] }: Skill): string {
  const lines = examples.slice(0, EXAMPLES_SHOWN).map((example) => `- ${plainLine(example, SKILL_CHARS)}`);
  return [
    `Calls the agent ${quoted(name)} for its skill ${quoted(skill)}. Its own description: ${plainText(description, LIMITS.descriptionChars / 2)}`,
    ...(lines.length === 0 ? [] : ["For example:", ...lines]),
  ].join("\n");
}

function quoted(name: string): string {
  return `"${plainLine(name, TITLE_CHARS)}"`;
}
