import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type ToolSet, tools } from 'proximal';

const server = fileURLToPath(new URL('./server.ts', import.meta.url));
const client = new Client({ name: 'proximal', version: '1.0.0' });
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: ['--import', 'tsx', server] }),
);

/** The text of a result; an error of the tool becomes one that the model sees. */
function readResult({ content, isError }: Awaited<ReturnType<typeof client.callTool>>): string {
  const parts = content as readonly { readonly type: string; readonly text?: string }[];
  const text = parts.map((part) => part.text ?? `(${part.type})`).join('\n');
  if (isError) throw new Error(text);
  return text;
}

/** Every tool of the server. */
const { tools: listed } = await client.listTools();
const set: ToolSet = Object.fromEntries(
  listed.map(({ name, description, inputSchema }) => [
    name,
    {
      description,
      inputSchema: { jsonSchema: inputSchema },
      execute: async (input: Record<string, unknown>, { abortSignal: signal }) =>
        readResult(await client.callTool({ name, arguments: input }, undefined, { signal })),
    },
  ]),
);

export default tools(set, { maxTurns: 4, timeout: 20, close: () => client.close() });
