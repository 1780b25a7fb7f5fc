import { expect, test } from "vitest";
import { CARD_POLICIES, REQUIREMENTS } from "../../../src/internal.js";
import * as commandRegistry from "../../../src/protocols/command-registry.js";
import { AUDIT_EVENTS, SIGNING_ALGORITHMS } from "../../../src/public/auth.js";
import { protocols } from "../../../src/public/protocols.js";
import { ABLATIONS, PRIORITY } from "../../../src/router/index.js";
import * as choices from "./choices.js";

test("the choices of the command line are those of the library", () => {
  expect({ ...choices }).toEqual({
    AUDIT_EVENTS,
    CARD_POLICIES,
    REQUIREMENTS,
    SIGNING_ALGORITHMS,
    PRIORITY,
    ABLATIONS,
    PROTOCOLS_WITH_COMMANDS: Object.keys(commandRegistry),
  });
  // A folder may have commands before its protocol is registered.
  const withCommands = protocols.filter(({ commands }) => commands !== undefined).map(({ id }) => id);
  expect(choices.PROTOCOLS_WITH_COMMANDS).toEqual(expect.arrayContaining(withCommands));
});
