import { expect, test } from "vitest";
import { grpcOrigin } from "./address.js";

test.each([
  ["host:50051", "http://host/card", "http://host:50051"],
  ["host:50051", "https://host/card", "https://host:50051"],
  ["host:443", "https://host", "https://host"],
  ["127.0.0.1:4000", "http://127.0.0.1:4000", "http://127.0.0.1:4000"],
  ["[::1]:4000", "http://localhost", "http://[::1]:4000"],
  ["localhost:4000", "http://localhost:4000", "http://localhost:4000"],
  ["dns:///host:50051", "http://h", "http://host:50051"],
  ["dns://8.8.8.8/host:50051", "http://h", "http://host:50051"],
  ["http://host:1/path", "https://h", "http://host:1"],
  ["https://host:1", "http://h", "https://host:1"],
  ["grpc://host:1", "https://h", "http://host:1"],
  ["GRPCS://host:1", "http://h", "https://host:1"],
  ["ftp://host:1", "http://h", undefined],
  ["", "http://h", undefined],
])("the origin of %s on a card at %s is %s", (url, base, origin) => {
  expect(grpcOrigin(url, base)).toBe(origin);
});
