import type { Tool } from "@modelcontextprotocol/server";
import type { Card, Maybe, Skill } from "../../src/index.js";
import { LIMITS } from "./limits.js";
import { plainLine, plainText } from "./plain-text.js";

const SKILLS_TOLD = 12;
const EXAMPLES_TOLD = 3;
const TITLE_CHARS = 100;
const SKILL_CHARS = 300;

const INPUT: Tool["inputSchema"] = {
  type: "object",
  properties: {
    message: {
      type: "string",
      description: "What to say to the agent. May be empty where `data` or `files` say it, or with `task` to wait for its end.",
    },
    session: { type: "string", description: "Goes on with an earlier conversation: the `session` of its result." },
    task: {
      type: "string",
      description: "The `taskId` of an earlier result: answers its question, or with an empty message waits for its end.",
    },
    data: { type: "object", description: "A JSON object for the agent, beside the message." },
    files: {
      type: "array",
      maxItems: LIMITS.files,
      description: "Files for the agent, each as bytes or as an address.",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          mediaType: { type: "string", description: "Such as image/png." },
          base64: { type: "string", description: "The bytes. Either this or `url`." },
          url: { type: "string", description: "Where the agent finds it." },
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
    omitted: { type: "array", items: { type: "string" }, description: "What did not fit into the result, and why." },
  },
  required: ["state", "text"],
};

/** An agent as a tool, or one skill of it. Everything a card says is its author's claim, and is told as such. */
export function toolDefinition(name: string, card: Card, skill: Maybe<Skill>): Tool {
  const title = plainLine(skill === undefined ? card.name : `${card.name}: ${skill.name}`, TITLE_CHARS);
  return {
    name,
    title,
    description: plainText(skill === undefined ? aboutAgent(card) : aboutSkill(card, skill), LIMITS.descriptionChars),
    inputSchema: INPUT,
    outputSchema: OUTPUT,
    // Nobody knows what an agent does when asked, so nothing is claimed that would let an assistant ask less often.
    annotations: { title, readOnlyHint: false, idempotentHint: false, openWorldHint: true },
  };
}

function aboutAgent({ name, description, skills }: Card): string {
  const told = skills.filter((skill) => skill.description !== description || skill.name !== name).slice(0, SKILLS_TOLD);
  const lines = told.map((skill) => `- ${plainLine(`${skill.name}: ${skill.description}`, SKILL_CHARS)}`);
  const left = skills.length - SKILLS_TOLD;
  return [
    `Sends a message to the agent ${quoted(name)}. It says of itself: ${plainText(description, LIMITS.descriptionChars / 2)}`,
    ...(lines.length === 0 ? [] : ["Its skills:", ...lines]),
    ...(left > 0 ? [`and ${left} more.`] : []),
  ].join("\n");
}

function aboutSkill({ name }: Card, { name: skill, description, examples = [] }: Skill): string {
  const tried = examples.slice(0, EXAMPLES_TOLD).map((example) => `- ${plainLine(example, SKILL_CHARS)}`);
  return [
    `Asks the agent ${quoted(name)} for its skill ${quoted(skill)}. It says of it: ${plainText(description, LIMITS.descriptionChars / 2)}`,
    ...(tried.length === 0 ? [] : ["For example:", ...tried]),
  ].join("\n");
}

function quoted(name: string): string {
  return `"${plainLine(name, TITLE_CHARS)}"`;
}
