import { z } from "zod";
import { CONFIG_SCHEMA } from "./config-schema.js";

const FROM_ENVIRONMENT = { type: "string", pattern: "^\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}$" } as const;

interface SchemaNode {
  [member: string]: unknown;
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: SchemaNode[];
  items?: SchemaNode;
  properties?: { [name: string]: SchemaNode };
  additionalProperties?: SchemaNode | boolean;
  required?: string[];
  $defs?: { [name: string]: SchemaNode };
  $ref?: string;
  allOf?: SchemaNode[];
}

/** JSON Schema of the configuration for editors, which allows a variable in place of every scalar value. */
export function configJsonSchema(): object {
  return { title: "Koine gateway", ...withEnvironment(written("ref")) };
}

function written(reused: "ref" | "inline"): SchemaNode {
  return z.toJSONSchema(CONFIG_SCHEMA, { io: "input", unrepresentable: "any", reused }) as SchemaNode; // zod's return type is loose
}

/** Every scalar value may come from the environment. */
function withEnvironment(node: SchemaNode): SchemaNode {
  const next: SchemaNode = { ...node };
  if (node.properties !== undefined) next.properties = eachWithEnvironment(node.properties);
  if (node.$defs !== undefined) next.$defs = eachWithEnvironment(node.$defs);
  if (typeof node.additionalProperties === "object") next.additionalProperties = withEnvironment(node.additionalProperties);
  if (node.items !== undefined) next.items = withEnvironment(node.items);
  if (node.anyOf !== undefined) next.anyOf = [...node.anyOf.map(bare), FROM_ENVIRONMENT];
  const isWhole = [node.properties, node.items, node.anyOf, node.allOf, node.$ref].some((member) => member !== undefined);
  if (isWhole || node.type === "object" || isFreeText(node)) return next;
  const { description, ...rest } = next;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, FROM_ENVIRONMENT] };
}

function eachWithEnvironment(members: { readonly [name: string]: SchemaNode }): { [name: string]: SchemaNode } {
  return Object.fromEntries(Object.entries(members).map(([name, each]) => [name, withEnvironment(each)]));
}

/** In an `anyOf` the variable is added once, beside the alternatives. */
function bare(node: SchemaNode): SchemaNode {
  return node.type === "object" || node.properties !== undefined ? withEnvironment(node) : node;
}

function isFreeText({ type, pattern, enum: values, const: only }: SchemaNode): boolean {
  return type === "string" && pattern === undefined && values === undefined && only === undefined;
}

/** Markdown table of all members with types and descriptions. A shape that occurs again refers to its first occurrence. */
export function configReference(): string {
  const described = new Map<string, string>();
  const membersOf = (node: SchemaNode, path: string): readonly string[] => {
    const required = new Set(node.required ?? []);
    return Object.entries(node.properties ?? {}).flatMap(([name, member]) => {
      const at = path === "" ? name : `${path}.${name}`;
      const inside = isSecret(member) ? [] : nested(member);
      const shape = JSON.stringify(inside);
      const before = inside.length === 0 ? undefined : described.get(shape);
      const about = [member.description, before === undefined ? undefined : `As \`${before}\`.`].filter(Boolean).join(" ");
      const row = `| \`${at}\` | ${formOf(member)}${required.has(name) ? " (required)" : ""} | ${about.replaceAll("|", "\\|")} |`;
      if (before !== undefined) return [row];
      described.set(shape, at);
      return [row, ...inside.flatMap(([suffix, each]) => membersOf(each, at + suffix))];
    });
  };
  return ["| member | is | |", "| --- | --- | --- |", ...membersOf(written("inline"), "")].join("\n");
}

function nested(node: SchemaNode): readonly (readonly [suffix: string, node: SchemaNode])[] {
  const objects = (node.anyOf ?? [node]).filter(({ properties }) => properties !== undefined);
  const items = node.items === undefined ? [] : nested(node.items).map(([suffix, each]) => [`[]${suffix}`, each] as const);
  const values =
    typeof node.additionalProperties === "object"
      ? nested(node.additionalProperties).map(([suffix, each]) => [`.NAME${suffix}`, each] as const)
      : [];
  return [...objects.map((each) => ["", each] as const), ...items, ...values];
}

function formOf(node: SchemaNode): string {
  if (isSecret(node)) return "secret";
  if (node.anyOf !== undefined) return node.anyOf.map(formOf).join(" or ");
  if (node.enum !== undefined) return node.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.type === "array") return `list of ${node.items === undefined ? "values" : formOf(node.items)}`;
  return FORMS[node.type ?? ""] ?? "value";
}

const FORMS: { readonly [type: string]: string } = {
  string: "text",
  number: "number",
  integer: "whole number",
  boolean: "true or false",
  object: "object",
};

function isSecret({ anyOf }: SchemaNode): boolean {
  return anyOf?.some(({ properties }) => properties?.["env"] !== undefined) === true && anyOf.length === 2;
}
