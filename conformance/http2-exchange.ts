import { connect, constants, type IncomingHttpHeaders } from "node:http2";
import type { SecureContextOptions } from "node:tls";
import type { HttpRequest, HttpResponse } from "../src/transport/exchange.js";
import { splitTarget } from "../src/transport/request.js";

/** One HTTP/2 connection per request, without added headers. The trailers are available once the body has ended. */
export function http2Exchange(request: HttpRequest, tls: SecureContextOptions): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const { origin, path, query } = splitTarget(request.target);
    const session = connect(origin, tls);
    // A connection error before the stream exists is reported only here.
    session.on("error", reject);
    const stream = session.request(
      { ...request.headers, ":method": request.method, ":path": query === "" ? path : `${path}?${query}` },
      { endStream: request.body.length === 0 },
    );
    let trailers: { [name: string]: string } = {};
    stream.on("trailers", (received: IncomingHttpHeaders) => {
      trailers = fieldsOf(received);
    });
    stream.on("response", (received) =>
      resolve({ status: received[":status"] ?? 0, headers: fieldsOf(received), body: stream, trailers: () => trailers }),
    );
    stream.on("error", reject);
    stream.on("close", () => {
      session.close();
      reject(new Error("the server closed the stream without an answer"));
    });
    request.cancel.onCancel((reason) => {
      reject(reason);
      stream.close(constants.NGHTTP2_CANCEL);
      session.close();
    });
    if (request.body.length > 0) stream.end(request.body);
  });
}

function fieldsOf(received: IncomingHttpHeaders): { [name: string]: string } {
  const fields: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(received))
    if (value !== undefined && !name.startsWith(":")) fields[name] = Array.isArray(value) ? value.join(", ") : String(value);
  return fields;
}
