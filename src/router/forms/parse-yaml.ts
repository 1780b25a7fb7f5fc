import type { CST, ParsedNode, Parser, YAMLError } from "yaml";
import { AgentError } from "../../envelope/index.js";
import { DOCUMENT_DEPTH, YAML_ALIASES, YAML_CHARACTERS } from "./limits.js";

/** Parser stack entries per level of the document: the collection, its item, and its key. */
const STACK_PER_LEVEL = 3;

/** The documents of a YAML text as plain values. No custom tags, no duplicate keys, no alias bombs. */
export async function parseYaml(text: string): Promise<readonly unknown[]> {
  if (text.length > YAML_CHARACTERS)
    throw new AgentError("too_large", `as YAML it may have ${YAML_CHARACTERS} characters; JSON may have more`);
  const { Composer, LineCounter, Parser, Lexer } = await import("yaml");
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer<ParsedNode>({ version: "1.2", schema: "core", uniqueKeys: true, lineCounter: lines });
  const documents = composer.compose(boundedTokens(new Lexer().lex(text), parser), false, text.length);
  const values: unknown[] = [];
  for (const document of documents) {
    // The library only warns about unknown tags.
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw syntaxError(problem, lines.linePos(problem.pos[0]).line);
    values.push(plainValue(() => document.toJS({ maxAliasCount: YAML_ALIASES })));
  }
  return values;
}

/** The library composes recursively: input that nests too deep must not reach it, because a stack overflow ends the process. */
function* boundedTokens(lexemes: Iterable<string>, parser: Parser): Generator<CST.Token> {
  for (const lexeme of lexemes) {
    yield* parser.next(lexeme);
    if (parser.stack.length > DOCUMENT_DEPTH * STACK_PER_LEVEL)
      throw new AgentError("too_large", `nests deeper than ${DOCUMENT_DEPTH} levels`);
  }
  yield* parser.end();
}

function plainValue(read: () => unknown): unknown {
  try {
    return read();
  } catch (thrown) {
    // The library throws a ReferenceError for too many aliases and for unknown anchors.
    if (thrown instanceof ReferenceError) throw new AgentError("decode", "its anchors are repeated too often, or are missing");
    throw thrown;
  }
}

function syntaxError({ message }: YAMLError, line: number): AgentError {
  return new AgentError("decode", `line ${line}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`);
}
