import { readCard } from "../card/card.js";
import { writeKindCard } from "../card/card-0.3.js";
import type { Dialect } from "../dialect.js";
import { FORM_0_3 } from "./form-0.3.js";
import { readLegacyRequest, writeLegacyRequest } from "./request-0.3.js";
import { readKindItem, readKindResult, writeKindItem, writeKindResult } from "./result-0.3.js";

/** A2A 0.3 on JSON-RPC: the `kind` form of its JSON schema. */
export const v03: Dialect = {
  version: "0.3",
  decodeRequest: (name, params, facts) => readLegacyRequest(FORM_0_3, name, params, facts),
  tenantOf: () => undefined,
  encodeResult: writeKindResult,
  encodeStreamItem: writeKindItem,
  encodeRequest: (operation, tenant, reportLoss) => writeLegacyRequest(FORM_0_3, operation, tenant, reportLoss),
  decodeResult: readKindResult,
  decodeStreamItem: readKindItem,
  encodeCard: writeKindCard,
  decodeCard: readCard,
};
