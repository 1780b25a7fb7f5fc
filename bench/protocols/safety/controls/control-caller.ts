import { z } from "zod";

import { cancelFrom, type HttpRequest } from "../../../../src/public/protocols.js";
import type { Caller, CallerParts } from "../members/koine-caller.js";
import { seal, unseal } from "./sealing.js";

const PATH = "/message";
const ANSWER = z.object({ answer: z.string() });
const SEALED = z.strictObject({ sealed: z.string() });

/** Numbers of this process only grow, whatever its clock says. */
let number = 0;

/** The client of a control, over the same link as that of a protocol. */
export function openControlCaller({ task, address, link, credentials, now }: CallerParts, doctor: string): Caller {
  const key = Buffer.from(credentials.key ?? "", "hex");
  const send = async (body: object): Promise<unknown> => {
    const response = await link.exchange(requestTo(`${address}${PATH}`, body));
    const text = Buffer.from(response.body instanceof Uint8Array ? response.body : "").toString("utf8");
    if (response.status !== 200) throw new Error(`${response.status}: ${text.slice(0, 200)}`);
    return JSON.parse(text);
  };
  return {
    async send(text) {
      if (task.target.kind === "open") return ANSWER.parse(await send({ from: "coordinator", to: doctor, text })).answer;
      const own = ++number;
      const sealed = seal({ number: own, at: now(), text }, `POST ${PATH} ${doctor}`, key);
      return ANSWER.parse(unseal(SEALED.parse(await send({ sealed })).sealed, `answer ${own}`, key)).answer;
    },
    close: () => link.close(),
  };
}

function requestTo(url: string, content: object): HttpRequest {
  const body = Buffer.from(JSON.stringify(content));
  const headers = { "content-type": "application/json" };
  return {
    ...{ method: "POST", target: url, path: PATH, query: "", headers, body, rawHeaders: Object.entries(headers).flat() },
    connection: { remote: "", secure: url.startsWith("https:"), loopback: true },
    cancel: cancelFrom(new AbortController().signal),
    call: undefined,
    admitted: undefined,
    signer: undefined,
    json: () => content,
  };
}
