import { readFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/**
 * Passes everything on to the upstream process, except messages with the hostile text, which get the prepared answer. A process of its
 * own: the process that attacks is busy, and the gateway would see an upstream that does not answer. Arguments: the folder with the files
 * `upstream-port` and `hostile-answer`, and the hostile text.
 */
const [folder = "", hostile = ""] = process.argv.slice(2);
const inFolder = (name: string): Buffer => readFileSync(join(folder, name));

const proxy = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const body = Buffer.concat(pieces);
    if (body.includes(hostile)) {
      response.setHeader("content-type", "application/json").end(inFolder("hostile-answer"));
      return;
    }
    const { method, headers, url: path } = request;
    const port = Number(inFolder("upstream-port").toString());
    const onward = httpRequest({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  });
});
proxy.listen(0, "127.0.0.1", () => {
  process.stdout.write(`port ${(proxy.address() as AddressInfo).port}\n`); // bound to TCP
});
