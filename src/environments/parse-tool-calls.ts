/** A tool call in the text of a turn, or why it cannot be read. */
export type ParsedToolCall =
  | { readonly name: string; readonly input: unknown }
  | { readonly problem: string };

/** The calls of a turn, and its text without them. */
export interface ParsedTurn {
  readonly content: string;
  readonly calls: readonly ParsedToolCall[];
}

const openTag = '<tool_call>';
const closeTag = '</tool_call>';
/** Special token of Llama 3 before a call; usually not part of the text. */
const pythonTag = '<|python_tag|>';

/** Finds the tool calls of a turn in the formats of Qwen and Hermes (`<tool_call>{…}</tool_call>`) and of
 *  Llama 3 (the whole text is JSON with a name and parameters, several separated by semicolons).
 *  @example '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
 *    →  { content: '', calls: [{ name: 'add', input: { a: 1 } }] } */
export function parseToolCalls(text: string): ParsedTurn {
  if (text.includes(openTag)) return parseTagged(text);
  const body = text.trim();
  const json = body.startsWith(pythonTag) ? body.slice(pythonTag.length).trim() : body;
  if (json !== body || /^\{\s*"(name|type|function)"/.test(json)) {
    return { content: '', calls: splitJson(json).map(readCall) };
  }
  return { content: text, calls: [] };
}

function parseTagged(text: string): ParsedTurn {
  const [content = '', ...parts] = text.split(openTag);
  let rest = content;
  const calls = parts.map((part): ParsedToolCall => {
    const end = part.indexOf(closeTag);
    if (end < 0) return { problem: `a tool call must end with ${closeTag}` };
    rest += part.slice(end + closeTag.length);
    return readCall(part.slice(0, end));
  });
  return { content: rest.trim(), calls };
}

/** Objects that are separated by semicolons, which may also be inside strings. */
function splitJson(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let [depth, inString] = [0, false];
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (inString && letter === '\\') i++;
    else if (letter === '"') inString = !inString;
    else if (inString) continue;
    else if (letter === '{') depth++;
    else if (letter === '}') depth--;
    else if (letter === ';' && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, text.slice(start)].filter((part) => part.trim() !== '');
}

function readCall(json: string): ParsedToolCall {
  let call: unknown;
  try {
    call = JSON.parse(json);
  } catch (error) {
    return { problem: `a tool call must be valid JSON: ${(error as Error).message}` };
  }
  const fields = (typeof call === 'object' && call !== null ? call : {}) as Record<string, unknown>;
  const inner = (
    typeof fields.function === 'object' && fields.function !== null ? fields.function : fields
  ) as Record<string, unknown>;
  const { name } = inner;
  if (typeof name !== 'string') return { problem: 'a tool call must have a "name"' };
  const input = inner.arguments ?? inner.parameters ?? {};
  return { name, input: typeof input === 'string' ? readText(input) : input };
}

/** Arguments may be JSON in a string, as OpenAI has them. */
function readText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the tool's schema decides whether text is a valid input.
    return text;
  }
}
