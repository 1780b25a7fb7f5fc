import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { listenLocally } from "../controls/http.js";
import { sendBytes } from "../probes/raw-request.js";
import { type Sniffed, sniff } from "./packet-capture.js";
import { FORMS, type Form, formsIn } from "./search.js";
import { Tap } from "./tap.js";

/** A text that is sent in clear, in every form, while the network is captured: the search must find it. */
export interface Canary {
  readonly text: string;
  readonly by: Sniffed["by"];
  readonly missing: readonly Form[];
}

/** The positive control of a search of the network. */
export async function searchCanary(): Promise<Canary> {
  const text = `CANARY in clear ${randomBytes(8).toString("hex")}`;
  const plain = Buffer.from(text);
  const written: { readonly [form in Form]: Buffer } = {
    raw: plain,
    "utf-16": Buffer.from(text, "utf16le"),
    base64: Buffer.from(Buffer.from(`x${text}y`).toString("base64")),
    hex: Buffer.from(plain.toString("hex")),
    url: Buffer.from(encodeURIComponent(text)),
    gzip: gzipSync(plain),
  };
  const tap = await Tap.open();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end());
  });
  try {
    tap.target = await listenLocally(server);
    const { by, bytes } = await sniff([tap], async () => {
      for (const form of FORMS) await sendBytes(tap.port, written[form]);
    });
    const found = formsIn(text, bytes);
    return { text, by, missing: FORMS.filter((form) => !found.has(form)) };
  } finally {
    server.close();
    tap.close();
  }
}
