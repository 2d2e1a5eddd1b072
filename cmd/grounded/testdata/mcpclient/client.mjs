// Speaks to the server as the official TypeScript SDK does, over standard input
// and output or over streamable HTTP, and prints what it saw as one JSON object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [mode, first, ...rest] = process.argv.slice(2);
const transport = mode === "stdio"
  ? new StdioClientTransport({ command: first, args: rest, env: { ...process.env }, stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(first), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } });
const client = new Client({ name: "independent", version: "1" });
await client.connect(transport);
const tools = (await client.listTools()).tools;
const remembered = await client.callTool({ name: "remember", arguments: { entity: "Ada", predicate: "manages", value: "Bob", source: "the TypeScript client" } });
const answered = await client.callTool({ name: "query", arguments: { where: [["?who", "manages", "Bob"]] } });
const refused = await client.callTool({ name: "query", arguments: { where: [["?who", "?p", "Bob"]] } });
const record = await client.readResource({ uri: "grounded://record/r1" });
const prompt = await client.getPrompt({ name: "remember_agreement", arguments: {} });
console.log(JSON.stringify({
  server: client.getServerVersion().name,
  tools: tools.length,
  bytes: JSON.stringify({ tools }).length,
  id: remembered.structuredContent.id,
  status: answered.structuredContent.status,
  who: answered.structuredContent.answers[0].bind["?who"],
  refused: refused.isError === true && refused.content[0].text,
  record: JSON.parse(record.contents[0].text).record.source,
  prompt: prompt.messages.length,
}));
await client.close();
