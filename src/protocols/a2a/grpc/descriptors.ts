import { create, toBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Cardinality,
  type DescriptorProto,
  DescriptorProtoSchema,
  EnumDescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Type as FieldKind,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  file_google_protobuf_empty,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
} from "@bufbuild/protobuf/wkt";
import { AgentError } from "../../../envelope/index.js";
import type { EnumType, Field, MessageType } from "./schema.js";

/** A method of a service, with its message types. */
export interface MethodShape {
  readonly name: string;
  readonly request: MessageType;
  readonly response: MessageType;
  readonly clientStreaming: boolean;
  readonly serverStreaming: boolean;
}

/** A proto file, as far as descriptors show it. */
export interface ProtoFile {
  readonly name: string;
  readonly package: string;
  readonly messages: { readonly [name: string]: MessageType };
  readonly service: string;
  readonly methods: readonly MethodShape[];
}

/** Message tables have no names for oneofs. These are the published ones; others are called `kind`. */
const ONEOF_NAMES: { readonly [message: string]: string } = {
  Part: "content",
  FilePart: "file",
  SendMessageResponse: "payload",
  StreamResponse: "payload",
  SecurityScheme: "scheme",
  OAuthFlows: "flow",
  ServerReflectionRequest: "message_request",
  ServerReflectionResponse: "message_response",
};

const SCALARS = { string: FieldKind.STRING, bytes: FieldKind.BYTES, bool: FieldKind.BOOL, int32: FieldKind.INT32 } as const;
/** The types of `google.protobuf`, which the tables treat as scalars or by their last name. */
const WELL_KNOWN = {
  timestamp: ".google.protobuf.Timestamp",
  struct: ".google.protobuf.Struct",
  value: ".google.protobuf.Value",
};
const EMPTY = "Empty";
const WELL_KNOWN_FILES = [file_google_protobuf_timestamp, file_google_protobuf_struct, file_google_protobuf_empty];

/** The descriptor of a proto file, made of its message tables. */
function describeFile(file: ProtoFile): FileDescriptorProto {
  const messages = Object.values(file.messages).filter(({ name }) => name !== EMPTY);
  const enums = enumsIn(messages);
  return create(FileDescriptorProtoSchema, {
    name: file.name,
    package: file.package,
    dependency: WELL_KNOWN_FILES.map(({ proto }) => proto.name),
    messageType: messages.map((message) => describeMessage(message, file.package, enums)),
    enumType: enums.filter(({ name }) => !name.includes(".")).map(describeEnum),
    service: [
      {
        name: file.service,
        method: file.methods.map(({ name, request, response, clientStreaming, serverStreaming }) => ({
          name,
          inputType: messageName(request, file.package),
          outputType: messageName(response, file.package),
          clientStreaming,
          serverStreaming,
        })),
      },
    ],
    syntax: "proto3",
  });
}

function enumsIn(messages: readonly MessageType[]): readonly EnumType[] {
  return [...new Set(messages.flatMap(({ fields }) => fields.flatMap(({ enumeration }) => enumeration ?? [])))];
}

function describeEnum({ name, names }: EnumType) {
  const value = names.map((each, number) => ({ name: each, number }));
  return create(EnumDescriptorProtoSchema, { name: name.slice(name.lastIndexOf(".") + 1), value });
}

function describeMessage({ name, fields }: MessageType, inPackage: string, enums: readonly EnumType[]): DescriptorProto {
  const oneofDecl = fields.some(({ label }) => label === "oneof") ? [{ name: ONEOF_NAMES[name] ?? "kind" }] : [];
  const maps = fields.filter(({ label }) => label === "map");
  const described = fields.map((field) => {
    const made = describeField(field, `.${inPackage}.${name}`, inPackage);
    if (field.label === "oneof") made.oneofIndex = 0;
    // proto3 represents presence by a oneof of its own, behind the real ones.
    if (field.label === "optional") made.oneofIndex = oneofDecl.push({ name: `_${made.name}` }) - 1;
    return made;
  });
  return create(DescriptorProtoSchema, {
    name,
    field: described,
    oneofDecl,
    nestedType: maps.map((field) => describeEntry(field, inPackage)),
    enumType: enums.filter((each) => each.name.startsWith(`${name}.`)).map(describeEnum),
  });
}

function describeField(field: Field, owner: string, inPackage: string): FieldDescriptorProto {
  const { name, label } = field;
  const isMany = label === "repeated" || label === "map";
  const type = label === "map" ? { type: FieldKind.MESSAGE, typeName: `${owner}.${entryName(field)}` } : typeOf(field, inPackage);
  return create(FieldDescriptorProtoSchema, {
    name: snakeCase(name),
    jsonName: name,
    number: field.tag >>> 3,
    label: isMany ? Cardinality.REPEATED : Cardinality.OPTIONAL,
    ...(label === "optional" ? { proto3Optional: true } : {}),
    ...type,
  });
}

/** An entry of a map: a message with a key and a value. */
function describeEntry(field: Field, inPackage: string): DescriptorProto {
  const part = { label: Cardinality.OPTIONAL };
  return create(DescriptorProtoSchema, {
    name: entryName(field),
    field: [
      { ...part, name: "key", jsonName: "key", number: 1, type: FieldKind.STRING },
      { ...part, name: "value", jsonName: "value", number: 2, ...typeOf(field, inPackage) },
    ],
    options: { mapEntry: true },
  });
}

function typeOf({ kind, message, enumeration, path }: Field, inPackage: string): { type: FieldKind; typeName?: string } {
  if (message !== undefined) return { type: FieldKind.MESSAGE, typeName: messageName(message, inPackage) };
  if (enumeration !== undefined) return { type: FieldKind.ENUM, typeName: `.${inPackage}.${enumeration.name}` };
  if (kind === "timestamp" || kind === "struct" || kind === "value")
    return { type: FieldKind.MESSAGE, typeName: WELL_KNOWN[kind] };
  if (kind === "message" || kind === "enum") throw new AgentError("internal", `${path} has no type`);
  return { type: SCALARS[kind] };
}

function messageName({ name }: MessageType, inPackage: string): string {
  return name === EMPTY ? ".google.protobuf.Empty" : `.${inPackage}.${name}`;
}

/** The name of a field as in a proto file. */
function snakeCase(jsonName: string): string {
  return jsonName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function entryName({ name }: Field): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Entry`;
}

/** Descriptors by file name and by symbol, as reflection clients request them. */
export interface DescriptorIndex {
  readonly services: readonly string[];
  /** The encoded file, with the files that it needs behind it. Undefined if there is none. */
  byFile(name: string): readonly Uint8Array[] | undefined;
  bySymbol(symbol: string): readonly Uint8Array[] | undefined;
}

export function indexDescriptors(files: readonly ProtoFile[]): DescriptorIndex {
  const described = [...files.map(describeFile), ...WELL_KNOWN_FILES.map(({ proto }) => proto)];
  const encoded = new Map(described.map((file) => [file.name, toBinary(FileDescriptorProtoSchema, file)]));
  const bySymbol = new Map(described.flatMap((file) => symbolsIn(file).map((symbol) => [symbol, file] as const)));
  const dependencies = new Map(described.map(({ name, dependency }) => [name, dependency]));
  const byFile = (name: string) =>
    encoded.has(name) ? [name, ...(dependencies.get(name) ?? [])].flatMap((each) => encoded.get(each) ?? []) : undefined;
  return {
    services: files.map(({ package: inPackage, service }) => `${inPackage}.${service}`).sort(),
    byFile,
    bySymbol(symbol) {
      const file = bySymbol.get(symbol);
      return file && byFile(file.name);
    },
  };
}

/** The full names of everything that a file defines. */
function symbolsIn(file: FileDescriptorProto): readonly string[] {
  const inMessage = (message: DescriptorProto, scope: string): readonly string[] => {
    const name = `${scope}.${message.name}`;
    const members = [...message.field, ...message.oneofDecl, ...message.enumType].map((each) => `${name}.${each.name}`);
    return [name, ...members, ...message.nestedType.flatMap((nested) => inMessage(nested, name))];
  };
  return [
    ...file.messageType.flatMap((message) => inMessage(message, file.package)),
    ...file.enumType.map(({ name }) => `${file.package}.${name}`),
    ...file.service.flatMap(({ name, method }) => [
      `${file.package}.${name}`,
      ...method.map((each) => `${file.package}.${name}.${each.name}`),
    ]),
  ];
}
