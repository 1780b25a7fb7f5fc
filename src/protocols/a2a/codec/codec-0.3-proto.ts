import { readCard } from "../card/card.js";
import { writeProtoCard } from "../card/card-0.3.js";
import type { Dialect } from "../dialect.js";
import { protoForm } from "./form-0.3.js";
import type { LegacyFiles } from "./legacy-files.js";
import { readLegacyRequest, writeLegacyRequest } from "./request-0.3.js";
import { readProtoResult, writeProtoResult } from "./result-0.3-proto.js";
import { readWrapped, writeWrapped } from "./result-1.0.js";

function dialectWith(files: LegacyFiles): Dialect {
  const form = protoForm(files);
  return {
    version: "0.3",
    decodeRequest: (name, params, facts) => readLegacyRequest(form, name, params, facts),
    tenantOf: () => undefined,
    encodeResult: (operation, event, reportLoss) => writeProtoResult(form, operation, event, reportLoss),
    encodeStreamItem: (event, reportLoss) => writeWrapped(form, event, reportLoss),
    encodeRequest: (operation, tenant, reportLoss) => writeLegacyRequest(form, operation, tenant, reportLoss),
    decodeResult: (operation, result, facts) => readProtoResult(form, operation, result, facts),
    decodeStreamItem: (item, facts) => readWrapped(form, item, facts),
    encodeCard: writeProtoCard,
    decodeCard: readCard,
  };
}

const DIALECTS: { readonly [files in LegacyFiles]: Dialect } = {
  auto: dialectWith("auto"),
  raw: dialectWith("raw"),
  base64: dialectWith("base64"),
};

/** A2A 0.3 on REST and gRPC: ProtoJSON of the 0.3 protobuf. */
export const v03Proto: Dialect = DIALECTS.auto;

/** The same, for peers that fill the bytes of files in a known way. */
export function v03ProtoFor(files: LegacyFiles): Dialect {
  return DIALECTS[files];
}
