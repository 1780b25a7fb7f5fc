import { describe, expect, test } from "vitest";
import { matchRest, queryParams } from "./rest-paths.js";

// A2A 1.0 §5.3 and §11.3: the method table, as method and segments below the interface address.
const TABLE: readonly (readonly [method: string, path: string, name: string, ids: object])[] = [
  ["POST", "message:send", "SendMessage", {}],
  ["POST", "message:stream", "SendStreamingMessage", {}],
  ["GET", "tasks/t-1", "GetTask", { id: "t-1" }],
  ["GET", "tasks", "ListTasks", {}],
  ["POST", "tasks/t-1:cancel", "CancelTask", { id: "t-1" }],
  ["POST", "tasks/t-1:subscribe", "SubscribeToTask", { id: "t-1" }],
  ["GET", "tasks/t-1:subscribe", "SubscribeToTask", { id: "t-1" }],
  ["POST", "tasks/t-1/pushNotificationConfigs", "CreateTaskPushNotificationConfig", { taskId: "t-1" }],
  ["GET", "tasks/t-1/pushNotificationConfigs/c-1", "GetTaskPushNotificationConfig", { taskId: "t-1", id: "c-1" }],
  ["GET", "tasks/t-1/pushNotificationConfigs", "ListTaskPushNotificationConfigs", { taskId: "t-1" }],
  ["DELETE", "tasks/t-1/pushNotificationConfigs/c-1", "DeleteTaskPushNotificationConfig", { taskId: "t-1", id: "c-1" }],
  ["GET", "extendedAgentCard", "GetExtendedAgentCard", {}],
];

describe("matchRest()", () => {
  for (const [method, path, name, ids] of TABLE) {
    test(`${method} /${path} is ${name}`, () => {
      expect(matchRest(method, path.split("/"))).toMatchObject({ name, ids });
    });
  }

  test("decodes an id after splitting, so that it may contain a slash, a colon and a percent sign", () => {
    expect(matchRest("GET", ["tasks", "a%2Fb%3Ac%25"])).toMatchObject({ name: "GetTask", ids: { id: "a/b:c%" } });
    expect(matchRest("POST", ["tasks", "a:b:cancel"])).toMatchObject({ name: "CancelTask", ids: { id: "a:b" } });
  });

  test("lists the methods of a path with another one", () => {
    expect(matchRest("PUT", ["tasks"])).toEqual({ allow: ["GET"] });
    expect(matchRest("DELETE", ["tasks", "t", "pushNotificationConfigs"])).toEqual({ allow: ["GET", "POST"] });
  });

  test("returns undefined for unknown paths", () => {
    for (const path of ["", "task", "tasks/a/b", "message:other", "tasks/a/pushNotificationConfigs/c/d"]) {
      expect(matchRest("GET", path.split("/"))).toBeUndefined();
    }
  });

  test("rejects an invalid escape as a client error", () => {
    expect(() => matchRest("GET", ["tasks", "%zz"])).toThrow("the path contains an invalid percent escape");
  });
});

describe("queryParams()", () => {
  test("reads names, words and escapes", () => {
    expect(queryParams("contextId=c%201&pageSize=20&includeArtifacts=true&pageToken=a+b")).toEqual({
      contextId: "c 1",
      pageSize: "20",
      includeArtifacts: true,
      pageToken: "a b",
    });
  });

  for (const query of ["includeArtifacts=yes", "a=1&a=2", "a=%zz"]) {
    test(`rejects ${query}`, () => {
      expect(() => queryParams(query)).toThrow(Error);
    });
  }

  test("keeps a name like __proto__ an ordinary name", () => {
    expect(Object.keys(queryParams("__proto__=x"))).toEqual(["__proto__"]);
  });
});
