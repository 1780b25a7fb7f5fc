import { expect, it } from "vitest";
import type { SentRequest } from "./members/tasks.js";
import { Secrets } from "./secrets.js";

const TOKEN = "token-0123456789abcdef";
const ISSUED = "eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl";

function sent(headers: Readonly<Record<string, string>>, answers: SentRequest["answers"] = []): SentRequest {
  return {
    method: "POST",
    url: "http://127.0.0.1/",
    headers,
    body: new Uint8Array(0),
    answers,
  };
}

it("hides every credential that was added or seen, and keeps the length of the text", () => {
  const secrets = new Secrets();
  secrets.add(TOKEN);
  secrets.learn({
    requests: [
      sent({ authorization: "Bearer from-the-request-itself" }, [{ status: 200, body: `{"access_token": "${ISSUED}"}` }]),
    ],
  });
  secrets.learn({
    requests: [
      sent({}, [
        {
          status: 200,
          headers: { Authorization: "bearer from-a-header-of-an-answer" },
        },
      ]),
    ],
  });
  const text = `${TOKEN} from-the-request-itself ${ISSUED} from-a-header-of-an-answer expired_session_1`;
  const hidden = secrets.hideIn(text);
  expect(hidden).toMatch(/^\*+ \*+ \*+ \*+ expired_session_1$/);
  expect(hidden).toHaveLength(text.length);
});

it("hides a credential in bytes that are no text, and leaves the others as they are", () => {
  const secrets = new Secrets();
  secrets.add(TOKEN);
  const bytes = Buffer.concat([Buffer.from([0, 0xff, 0x80]), Buffer.from(TOKEN), Buffer.from([0xfe])]);
  expect(secrets.hideInBytes(bytes)).toEqual(
    Buffer.concat([Buffer.from([0, 0xff, 0x80]), Buffer.alloc(TOKEN.length, "*"), Buffer.from([0xfe])]),
  );
});

it("hides a credential whole that contains another, and no word that is shorter than one", () => {
  const secrets = new Secrets();
  for (const each of [TOKEN, `${TOKEN}-and-more`, "noted"]) secrets.add(each);
  expect(secrets.hideIn(`noted: ${TOKEN}-and-more`)).toBe(`noted: ${"*".repeat(TOKEN.length + 9)}`);
});
