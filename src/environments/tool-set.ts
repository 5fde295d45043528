import { z } from 'zod';

/** A tool: the shape that the Vercel AI SDK's `tool()` returns. */
export interface ToolDefinition {
  /** A function of the AI SDK's context receives an empty one. */
  readonly description?: string | ((options: never) => string) | undefined;
  /** A zod schema, another standard schema with a JSON schema, or what the AI SDK's `jsonSchema()` returns. */
  readonly inputSchema?: unknown;
  /** Computes the result. The signal fires when the result is no longer needed. */
  execute?(input: never, options: ToolCallOptions): unknown;
}

/** What a tool receives besides its input, under the names of the AI SDK. */
export interface ToolCallOptions {
  readonly toolCallId: string;
  readonly messages: never[];
  readonly abortSignal: AbortSignal;
  readonly context: never;
}

/** Tools by name. */
export type ToolSet = Readonly<Record<string, ToolDefinition>>;

/** Input that a schema accepts, or why it does not. */
type CheckedInput = { readonly value: unknown } | { readonly problem: string };

/** A tool whose schema has been read. */
export interface ReadyTool {
  readonly name: string;
  /** The function for the chat template. */
  readonly description: object;
  check(input: unknown): Promise<CheckedInput>;
  execute(input: unknown, options: ToolCallOptions): unknown;
}

/** Checks the tools and reads their schemas. */
export function readTools(set: ToolSet): ReadonlyMap<string, ReadyTool> {
  const entries = Object.entries(set);
  if (entries.length === 0) {
    throw new RangeError('Cannot use the tools: there must be at least one, got none');
  }
  return new Map(entries.map(([name, tool]) => [name, readTool(name, tool)]));
}

function readTool(name: string, tool: ToolDefinition): ReadyTool {
  const { execute, description = '', inputSchema } = tool;
  if (typeof execute !== 'function') {
    throw new TypeError(
      `Cannot use the tool "${name}": it must have an execute function, got ${typeof execute}`,
    );
  }
  const schema = readSchema(inputSchema, name);
  return {
    name,
    description: {
      type: 'function',
      function: { name, description: textOf(description), parameters: schema.json },
    },
    check: schema.check,
    execute: (input, options) => execute.call(tool, input as never, options),
  };
}

function textOf(description: NonNullable<ToolDefinition['description']>): string {
  return typeof description === 'string' ? description : description({ context: {} } as never);
}

interface ReadSchema {
  readonly json: object;
  check(input: unknown): Promise<CheckedInput>;
}

interface StandardSchema {
  readonly '~standard': {
    validate(value: unknown): unknown;
  };
}

/** What the AI SDK's `jsonSchema()` and `zodSchema()` return. */
interface SdkSchema {
  readonly jsonSchema: object;
  validate?(value: unknown): unknown;
}

function readSchema(schema: unknown, name: string): ReadSchema {
  // The AI SDK's lazy schemas are functions.
  const known = typeof schema === 'function' && !('~standard' in schema) ? schema() : schema;
  if (known === undefined) {
    return { json: { type: 'object', properties: {} }, check: async (value) => ({ value }) };
  }
  if (isZod(known)) return { json: describeZod(known), check: (input) => checkZod(known, input) };
  if (isSdkSchema(known)) {
    return { json: known.jsonSchema, check: (input) => checkSdk(known, input) };
  }
  throw new TypeError(
    `Cannot use the tool "${name}": its inputSchema must be a zod schema or come from the AI SDK's jsonSchema(), got ${typeof known}`,
  );
}

function isZod(schema: unknown): schema is z.ZodType & StandardSchema {
  return typeof schema === 'object' && schema !== null && '_zod' in schema && '~standard' in schema;
}

function isSdkSchema(schema: unknown): schema is SdkSchema {
  if (typeof schema !== 'object' || schema === null || !('jsonSchema' in schema)) return false;
  const { jsonSchema } = schema;
  return typeof jsonSchema === 'object' && jsonSchema !== null && !('then' in jsonSchema);
}

function describeZod(schema: z.ZodType): object {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' });
  return json;
}

async function checkZod(schema: z.ZodType, input: unknown): Promise<CheckedInput> {
  const { success, data, error } = await schema.safeParseAsync(input);
  if (success) return { value: data };
  const problems = error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  return { problem: problems.join('; ') };
}

async function checkSdk(schema: SdkSchema, input: unknown): Promise<CheckedInput> {
  if (schema.validate === undefined) return { value: input };
  const result = (await schema.validate(input)) as
    | { readonly success: true; readonly value: unknown }
    | { readonly success: false; readonly error: Error };
  return result.success ? { value: result.value } : { problem: result.error.message };
}
