import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { SettingInfo } from "../protocol.js";

/**
 * The two published error tables (A2A 1.0.0 and 1.0.1) differ in six cells, and a patch version is not negotiated, so a
 * server has to choose. `1.0.1` is current and the default; `1.0.0` is the table of the seed and also writes the problem
 * members (`type`, `title`, `status`, `detail`) beside `error`.
 */
export const ERROR_PROFILES = ["1.0.1", "1.0.0"] as const;
export type ErrorProfile = (typeof ERROR_PROFILES)[number];

/** The card format for requests without a version. `both` has the members of 1.0 and 0.3. */
export const CARD_FORMS = ["both", "1.0", "0.3"] as const;
export type CardForm = (typeof CARD_FORMS)[number];

/**
 * The specification names no header for the token of a webhook: `x` is `X-A2A-Notification-Token` (the JavaScript, Python
 * and Java servers), `plain` is `A2A-Notification-Token` (Go and Rust), `both` is both.
 */
const PUSH_TOKEN_HEADERS = ["x", "plain", "both"] as const;
export type PushTokenHeader = (typeof PUSH_TOKEN_HEADERS)[number];

/**
 * How a card writes where gRPC of 0.3 is answered: the official SDKs dial what is written and need `host:port`, while the
 * specification of 0.3 asks for an absolute URL, and so does its compatibility kit.
 */
export const LEGACY_GRPC_ADDRESSES = ["authority", "url"] as const;
export type LegacyGrpcAddress = (typeof LEGACY_GRPC_ADDRESSES)[number];

export interface A2aSettings {
  readonly errorProfile: ErrorProfile;
  readonly cardForm: CardForm;
  readonly legacyGrpcAddress: LegacyGrpcAddress;
  readonly pushTokenHeader: PushTokenHeader;
}

/** What people can set, for help texts. */
export const SETTINGS: readonly SettingInfo[] = [
  {
    name: "errorProfile",
    kind: "text",
    example: "1.0.0",
    about: "which published A2A error table is written: 1.0.1 is current and the default; 1.0.0 also writes problem type URIs",
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
    about: "the card for who names no version: both is the default and readers of 1.0 and 0.3 understand it; or 1.0, or 0.3",
  },
  {
    name: "legacyGrpcAddress",
    kind: "text",
    example: "url",
    about: "gRPC addresses on 0.3 cards as http://host:port; authority writes host:port and is the default",
  },
];

/** The user's settings for this protocol, checked at start. */
export function readSettings(given: Maybe<JsonObject>): A2aSettings {
  return {
    errorProfile: oneOf(ERROR_PROFILES, given, "errorProfile"),
    cardForm: oneOf(CARD_FORMS, given, "cardForm"),
    legacyGrpcAddress: oneOf(LEGACY_GRPC_ADDRESSES, given, "legacyGrpcAddress"),
    pushTokenHeader: oneOf(PUSH_TOKEN_HEADERS, given, "pushTokenHeader"),
  };
}

/** The value given, or the first of the known ones. */
function oneOf<T extends string>(known: readonly [T, ...T[]], given: Maybe<JsonObject>, field: string): T {
  const value = given?.[field] ?? known[0];
  const found = known.find((one) => one === value);
  if (found === undefined) throw new AgentError("invalid_message", `${field} must be one of ${known.join(", ")}`, { field });
  return found;
}
