import { readCard } from "../card/card.js";
import { writeProtoCard } from "../card/card-0.3.js";
import type { Dialect } from "../dialect.js";
import { FORM_0_3_PROTO } from "./form-0.3.js";
import { readLegacyRequest, writeLegacyRequest } from "./request-0.3.js";
import { readProtoResult, writeProtoResult } from "./result-0.3-proto.js";
import { readWrapped, writeWrapped } from "./result-1.0.js";

/** A2A 0.3 on REST: ProtoJSON of the 0.3 protobuf. */
export const v03Proto: Dialect = {
  version: "0.3",
  decodeRequest: (name, params, facts) => readLegacyRequest(FORM_0_3_PROTO, name, params, facts),
  tenantOf: () => undefined,
  encodeResult: writeProtoResult,
  encodeStreamItem: (event, reportLoss) => writeWrapped(FORM_0_3_PROTO, event, reportLoss),
  encodeRequest: (operation, tenant, reportLoss) => writeLegacyRequest(FORM_0_3_PROTO, operation, tenant, reportLoss),
  decodeResult: readProtoResult,
  decodeStreamItem: (item, facts) => readWrapped(FORM_0_3_PROTO, item, facts),
  encodeCard: writeProtoCard,
  decodeCard: readCard,
};
