import { readCard } from "../card/card.js";
import { writeCard } from "../card/card-1.0.js";
import type { Dialect } from "../dialect.js";
import { plain, readParams } from "../wire.js";
import { writeEventText } from "./event-text-1.0.js";
import { FORM_1_0 } from "./form-1.0.js";
import { readRequest, writeRequest } from "./request-1.0.js";
import { readResult, readWrapped, writeResult, writeStreamItem } from "./result-1.0.js";
import { writeSendText } from "./send-text-1.0.js";

/** A2A 1.0: one JSON form for both bindings. */
export const v1: Dialect = {
  version: "1.0",
  decodeRequest: readRequest,
  tenantOf: (params) => plain(readParams(params).tenant, "tenant"),
  encodeResult: writeResult,
  encodeStreamItem: writeStreamItem,
  writeEventText,
  encodeRequest: writeRequest,
  writeSendText,
  decodeResult: readResult,
  decodeStreamItem: (item, facts) => readWrapped(FORM_1_0, item, facts),
  encodeCard: writeCard,
  decodeCard: readCard,
};
