import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { SettingInfo } from "../protocol.js";
import { LEGACY_FILES, type LegacyFiles } from "./codec/legacy-files.js";

/**
 * The two published error tables (A2A 1.0.0 and 1.0.1) differ in six cells, and patch versions are not negotiated. `1.0.1` is
 * current and the default; `1.0.0` is the table of the seed, and also writes the problem members (`type`, `title`, `status`,
 * `detail`) beside `error`.
 */
export const ERROR_PROFILES = ["1.0.1", "1.0.0"] as const;
export type ErrorProfile = (typeof ERROR_PROFILES)[number];

/**
 * The card format for requests without a version. `both` has the members of 1.0 and 0.3; `auto` is the same, in the form that a reader
 * with a known `User-Agent` needs (`card/readers.ts`).
 */
export const CARD_FORMS = ["auto", "both", "1.0", "0.3"] as const;
export type CardForm = (typeof CARD_FORMS)[number];

/**
 * The specification names no header for the token of a webhook: `x` is `X-A2A-Notification-Token` (the JavaScript, Python
 * and Java servers), `plain` is `A2A-Notification-Token` (Go and Rust), `both` is both.
 */
const PUSH_TOKEN_HEADERS = ["x", "plain", "both"] as const;
export type PushTokenHeader = (typeof PUSH_TOKEN_HEADERS)[number];

/**
 * The format of gRPC addresses on cards: clients that dial them need `host:port`; the specifications ask for an absolute URL, as does
 * the compatibility kit of 0.3.
 */
export const GRPC_ADDRESSES = ["authority", "url"] as const;
type GrpcAddressForm = (typeof GRPC_ADDRESSES)[number];

export interface A2aSettings {
  readonly legacyFiles: LegacyFiles;
  readonly errorProfile: ErrorProfile;
  readonly cardForm: CardForm;
  readonly grpcAddress: GrpcAddressForm;
  readonly legacyGrpcAddress: GrpcAddressForm;
  readonly pushTokenHeader: PushTokenHeader;
}

/** The settings, for help texts. */
export const SETTINGS: readonly SettingInfo[] = [
  {
    name: "errorProfile",
    kind: "text",
    example: "1.0.0",
    about: "the published A2A error table: 1.0.1 (current, the default), or 1.0.0, which also writes problem type URIs",
  },
  {
    name: "pushTokenHeader",
    kind: "text",
    example: "plain",
    about: "webhooks get their token as X-A2A-Notification-Token (x, the default), A2A-Notification-Token (plain), or both",
  },
  {
    name: "cardForm",
    kind: "text",
    example: "1.0",
    about:
      "the card format for requests without a version: both (1.0 and 0.3 in one), 1.0, 0.3, or auto (the default): both, as the caller's User-Agent needs it",
  },
  {
    name: "grpcAddress",
    kind: "text",
    example: "url",
    about: "gRPC addresses on 1.0 cards: host:port (authority, the default) or http://host:port (url)",
  },
  {
    name: "legacyGrpcAddress",
    kind: "text",
    example: "url",
    about: "gRPC addresses on 0.3 cards: host:port (authority, the default) or http://host:port (url)",
  },
  {
    name: "legacyFiles",
    kind: "text",
    example: "base64",
    about:
      "files over 0.3 REST and gRPC: bytes (raw), base64 text in the bytes (base64, for Python and Go), or by what the peer is known to be (auto, the default)",
  },
];

/** The settings of the user, validated at start. */
export function readSettings(given: Maybe<JsonObject>): A2aSettings {
  return {
    errorProfile: oneOf(ERROR_PROFILES, given, "errorProfile"),
    legacyFiles: oneOf(LEGACY_FILES, given, "legacyFiles"),
    cardForm: oneOf(CARD_FORMS, given, "cardForm"),
    grpcAddress: oneOf(GRPC_ADDRESSES, given, "grpcAddress"),
    legacyGrpcAddress: oneOf(GRPC_ADDRESSES, given, "legacyGrpcAddress"),
    pushTokenHeader: oneOf(PUSH_TOKEN_HEADERS, given, "pushTokenHeader"),
  };
}

/** The given value, or the first of the known ones. */
function oneOf<T extends string>(known: readonly [T, ...T[]], given: Maybe<JsonObject>, field: string): T {
  const value = given?.[field] ?? known[0];
  const found = known.find((one) => one === value);
  if (found === undefined) throw new AgentError("invalid_message", `a2a.${field} must be one of ${known.join(", ")}`, { field });
  return found;
}
