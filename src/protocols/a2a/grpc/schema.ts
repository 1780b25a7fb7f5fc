import { AgentError, type Maybe } from "../../../envelope/index.js";

/**
 * A field as in a proto file, without its name: `repeated Part 5`, `optional int32 3`, `oneof string 1`, `map SecurityScheme 8`.
 */
type FieldText = `${string} ${number}` | `${Exclude<Label, "plain">} ${string} ${number}`;

/** Values in the order of their numbers. */
type EnumTables = { readonly [name: string]: readonly string[] };
/** Messages by name, their fields by JSON name. */
type MessageTables = { readonly [name: string]: { readonly [jsonName: string]: FieldText } };

type Kind = "string" | "bytes" | "bool" | "int32" | "timestamp" | "struct" | "value" | "enum" | "message";

/**
 * `plain`: a default is equivalent to absent, and is not written. `optional` and `oneof`: presence is significant. `always`: like
 * plain on the wire, but required in JSON, so an omitted default is restored.
 */
type Label = "plain" | "optional" | "oneof" | "always" | "repeated" | "map";

export interface EnumType {
  /** With the message that it is nested in, if any: `HealthCheckResponse.ServingStatus`. */
  readonly name: string;
  readonly names: readonly string[];
  readonly numbers: ReadonlyMap<unknown, number>;
}

export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly label: Label;
  /** For error messages: `Task.status`. */
  readonly path: string;
  /** Whether presence is significant even for the default value. */
  readonly counts: boolean;
  /** Number and wire type, the prefix of every value. */
  readonly tag: number;
  readonly message: Maybe<MessageType>;
  readonly enumeration: Maybe<EnumType>;
}

export interface MessageType {
  readonly name: string;
  readonly fields: readonly Field[];
  /** By number, for direct lookup. */
  readonly byNumber: readonly Maybe<Field>[];
  readonly always: readonly Field[];
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;

const LABELS: ReadonlySet<string> = new Set(["optional", "oneof", "always", "repeated", "map"]);
/** The `google.protobuf` types with a JSON form of their own are treated as scalars. */
const SCALARS: ReadonlySet<string> = new Set(["string", "bytes", "bool", "int32", "timestamp", "struct", "value"]);

/** The tables with all names resolved, built once at module load. */
export function compileSchema<const Messages extends MessageTables>(
  enumTables: EnumTables,
  messages: Messages,
): { readonly [name in keyof Messages]: MessageType } {
  const enums = new Map(Object.entries(enumTables).map(([name, names]) => [name, compileEnum(name, names)]));
  const types = new Map<string, Building>();
  for (const name of Object.keys(messages)) types.set(name, { name, fields: [], byNumber: [], always: [] });
  for (const [name, type] of types)
    for (const [member, text] of Object.entries(messages[name] ?? {})) addField(type, compileField(name, member, text));
  return Object.fromEntries(types) as Record<string, MessageType> as { [name in keyof Messages]: MessageType }; // one type per key of the tables

  function compileField(owner: string, name: string, text: string): { readonly number: number; readonly field: Field } {
    const words = text.split(" ");
    const label = LABELS.has(words[0] ?? "") ? (words.shift() as Label) : "plain"; // one of the set above
    const [typeName = "", number = ""] = words;
    const message = types.get(typeName);
    const enumeration = enums.get(typeName);
    const kind = message === undefined ? (enumeration === undefined ? typeName : "enum") : "message";
    if (kind === typeName && !SCALARS.has(kind))
      throw new AgentError("internal", `${owner}.${name} has the unknown type ${typeName}`);
    const wire = label !== "map" && (kind === "bool" || kind === "int32" || kind === "enum") ? VARINT : LENGTH_DELIMITED;
    const tag = (Number(number) << 3) | wire;
    const counts = label === "optional" || label === "oneof";
    const path = `${owner}.${name}`;
    return { number: Number(number), field: { name, kind: kind as Kind, label, path, counts, tag, message, enumeration } }; // checked above
  }
}

interface Building extends MessageType {
  readonly fields: Field[];
  readonly byNumber: Maybe<Field>[];
  readonly always: Field[];
}

function addField(type: Building, { number, field }: { readonly number: number; readonly field: Field }): void {
  type.fields.push(field);
  while (type.byNumber.length <= number) type.byNumber.push(undefined);
  type.byNumber[number] = field;
  if (field.label === "always") type.always.push(field);
}

/** ProtoJSON accepts the name or the number. */
function compileEnum(enumName: string, names: readonly string[]): EnumType {
  const numbers = new Map<unknown, number>();
  for (const [number, name] of names.entries()) numbers.set(name, number).set(number, number);
  return { name: enumName, names, numbers };
}
