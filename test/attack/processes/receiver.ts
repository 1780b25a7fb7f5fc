import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { pushReceiver } from "../../../src/index.js";

/** A webhook of an app of its own, with `/health` beside it. Prints its URL. */
const [cert = "", key = "", token = ""] = process.argv.slice(2);
const receiver = pushReceiver({ token }, () => undefined);
const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
  if (request.url === "/health") response.end("{}");
  else receiver.listener(request, response);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`https://127.0.0.1:${(server.address() as AddressInfo).port}\n`); // bound to TCP
});
