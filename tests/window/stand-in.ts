// A stand-in for a server with a language model, on loopback, of the OpenAI-compatible kind. It
// obeys: it calls the tool it is told to call, cites what it was shown and nothing else, gives JSON
// of the shape that is asked for, ends with the word that a rule names and doubts when it shall doubt. What it says depends on the request alone.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { onTestFinished } from "vitest";

const LLM = "stand-in-1";

interface Message {
  role: string;
  content: string | null;
}

interface Tool {
  function: { name: string; parameters: Schema };
}

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
}

interface Request {
  messages: Message[];
  tools?: Tool[];
  tool_choice?: string | { function: { name: string } };
  response_format?: { type: string; json_schema?: { schema: Schema } };
  stream?: boolean;
}

interface Call {
  name: string;
  args: unknown;
}

interface Reply {
  text?: string;
  calls?: Call[];
}

/** What was asked: names of the tools that were offered, and the whole request. */
interface Asked {
  tools: string[];
  request: Request;
}

export interface StandIn {
  /** What is entered as the address of the endpoint. */
  address: string;
  /** Name of its one model. */
  llm: string;
  /** Every chat request so far. */
  asked: Asked[];
  /** Milliseconds before each reply: a language model thinks. */
  pace: number;
}

/** Serves until the test is over. `broken` answers every chat with prose in the place of JSON. */
export async function serve({ broken = false } = {}): Promise<StandIn> {
  const asked: Asked[] = [];
  const standIn: StandIn = { address: "", llm: LLM, asked, pace: 0 };
  const server = createServer((incoming, response) => {
    void handle(incoming, response, standIn, broken);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the stand-in has no port");
  standIn.address = `http://127.0.0.1:${address.port}/v1`;
  return standIn;
}

async function handle(
  incoming: IncomingMessage,
  response: ServerResponse,
  { asked, pace }: StandIn,
  broken: boolean,
): Promise<void> {
  if (incoming.method === "GET") {
    return json(response, { object: "list", data: [{ id: LLM, max_model_len: 65_536 }] });
  }
  if (broken) {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<html><body>Welcome to the router</body></html>");
    return;
  }
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const request = JSON.parse(Buffer.concat(pieces).toString()) as Request;
  asked.push({ tools: (request.tools ?? []).map((tool) => tool.function.name), request });
  if (pace > 0) await setTimeout(pace);
  const reply = answer(request);
  const usage = usageOf(request, reply);
  if (request.stream) stream(response, reply, usage);
  else json(response, { model: LLM, usage, choices: [{ index: 0, ...whole(reply) }] });
}

/** About four letters a token: too few would look like a prompt that was cut. */
function usageOf(request: Request, reply: Reply) {
  const prompt_tokens = Math.ceil(JSON.stringify(request).length / 4);
  const completion_tokens = Math.ceil(JSON.stringify(reply).length / 4);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const wire = ({ name, args }: Call, index: number) => ({
  index,
  id: `call_${index}_${name}`,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
});

function whole({ text, calls }: Reply) {
  return {
    finish_reason: calls ? "tool_calls" : "stop",
    message: {
      role: "assistant",
      content: text ?? null,
      ...(calls && { tool_calls: calls.map(wire) }),
    },
  };
}

function stream(
  response: ServerResponse,
  { text, calls }: Reply,
  usage: ReturnType<typeof usageOf>,
): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (delta: unknown, finish: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ model: LLM, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  send({ role: "assistant", content: "" });
  for (const piece of text?.match(/\S+\s*/g) ?? []) send({ content: piece });
  if (calls) send({ tool_calls: calls.map(wire) });
  send({}, calls ? "tool_calls" : "stop");
  response.write(`data: ${JSON.stringify({ model: LLM, choices: [], usage })}\n\n`);
  response.end("data: [DONE]\n\n");
}

function answer(request: Request): Reply {
  const tools = request.tools ?? [];
  if (tools.length > 0) return { calls: callsFor(request, tools) };
  const schema = request.response_format?.json_schema?.schema;
  if (schema) return { text: JSON.stringify(objectFor(schema, request)) };
  const asksForOperations = request.messages.some(({ content }) =>
    content?.includes('"operations"'),
  );
  if (asksForOperations) return { text: JSON.stringify(delta(request)) };
  return { text: PROSE };
}

function callsFor(request: Request, tools: Tool[]): Call[] {
  const forced = typeof request.tool_choice === "object" ? request.tool_choice.function.name : null;
  const named = (name: string) => tools.find((tool) => tool.function.name === name);
  const call = (tool: Tool): Call => ({
    name: tool.function.name,
    args: instance(tool.function.parameters, question(request)),
  });
  const told = forced ? named(forced) : undefined;
  if (told && forced !== "done") return [call(told)];
  if (named("done")) return [{ name: "done", args: done(request, named("done") as Tool) }];
  // The set-up check asks for two calls of one tool in a turn.
  const first = told ?? (tools[0] as Tool);
  return [call(first), call(first)];
}

interface Shown {
  id: string;
  text: string;
  kind: string;
}

/** Everything with an id and a text in the results of tools, as shown. */
function shown(request: Request): Shown[] {
  const found = new Map<string, Shown>();
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) walk(each);
    else if (typeof value === "object" && value !== null) {
      const { id, text, fact_type } = value as Record<string, unknown>;
      if (typeof id === "string" && typeof text === "string" && typeof fact_type === "string") {
        found.set(id, { id, text, kind: fact_type });
      }
      for (const each of Object.values(value)) walk(each);
    }
  };
  for (const { role, content } of request.messages) {
    if (role === "tool" && content !== null) walk(parsed(content));
  }
  return [...found.values()];
}

/** The first object in a text that may be fenced or followed by more. */
function parsed(text: string): unknown {
  const begin = text.indexOf("{");
  for (
    let end = text.lastIndexOf("}");
    begin >= 0 && end > begin;
    end = text.lastIndexOf("}", end - 1)
  ) {
    try {
      return JSON.parse(text.slice(begin, end + 1));
    } catch {
      // A shorter piece may be whole.
    }
  }
  return null;
}

/** The statements that touch the question most, one sentence of each memory. */
function done(request: Request, tool: Tool): unknown {
  const about =
    question(request)
      .toLowerCase()
      .match(/\p{L}{3,}/gu) ?? [];
  const weight = (text: string) => about.filter((word) => text.toLowerCase().includes(word)).length;
  const best = shown(request)
    .map((memory) => {
      const sentences = memory.text.split(/\n|(?<=[.!?])\s+/).filter((text) => text.length > 30);
      const text = sentences.sort((a, b) => weight(b) - weight(a))[0] ?? memory.text;
      return { ...memory, text: text.replace(/^\W+/, "").slice(0, 300) };
    })
    .sort((a, b) => weight(b.text) - weight(a.text))
    .slice(0, 5);
  const lines = best.map(({ id, text }) => ({ text, id }));
  const ids = (observation: boolean) =>
    best.filter(({ kind }) => (kind === "observation") === observation).map(({ id }) => id);
  const cited = { memory_ids: ids(false), observation_ids: ids(true), mental_model_ids: [] };
  if (tool.function.parameters.properties?.document) {
    const blocks = lines.map(({ text, id }) => ({ text, evidence: [id] }));
    return { ...cited, document: { sections: [{ heading: "Leaders", level: 2, blocks }] } };
  }
  const { before, after } = orders(request);
  return {
    ...cited,
    answer: [...before, ...lines.map(({ text }) => `- ${text}`), ...after].join("\n"),
    directive_compliance: "Each rule is kept.",
    claims: lines.map(({ text, id }) => ({ quote: text, ids: [id] })),
  };
}

/** What the instructions ask for beside the answer: a last word, a doubt in front. */
function orders(request: Request): { before: string[]; after: string[] } {
  const told = request.messages.find(({ role }) => role === "system")?.content ?? "";
  const word = /End with the word (\w+)/.exec(told)?.[1];
  return {
    before: told.includes("as unproven") ? ["Unproven, as it is told:\n"] : [],
    after: word ? [`\n${word}`] : [],
  };
}

/** One new block for each new fact, at the end of the last section. */
function delta(request: Request): unknown {
  const prompt = request.messages.find(({ role }) => role === "user")?.content ?? "";
  const lines = prompt.split("\n");
  const json = lines.find((line) => line.startsWith('{"sections"')) ?? '{"sections":[]}';
  const { sections } = JSON.parse(json) as { sections: { id: string }[] };
  // `f1 (world, happened …): the fact`
  const facts = [...prompt.matchAll(/^(f\d+) \(.*?\): (.+)$/gm)];
  return {
    operations: facts.map(([, handle, text]) => ({
      op: "append_block",
      section_id: sections.at(-1)?.id,
      text,
      evidence: [handle],
    })),
    already_reflected: [],
    irrelevant: [],
  };
}

function objectFor(schema: Schema, request: Request): unknown {
  return schema.properties?.operations ? delta(request) : instance(schema, "harbour");
}

/** The smallest value of a shape. */
function instance(schema: Schema, text: string): unknown {
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case "object": {
      const needed = schema.required ?? Object.keys(schema.properties ?? {});
      const of = (key: string) => instance(schema.properties?.[key] ?? {}, text);
      return Object.fromEntries(needed.map((key) => [key, of(key)]));
    }
    case "array":
      return [];
    case "integer":
    case "number":
      return 9;
    case "boolean":
      return true;
    default:
      return text;
  }
}

function question(request: Request): string {
  const asked = request.messages.find(({ role }) => role === "user")?.content ?? "";
  const lines = asked.split("\n").filter((line) => line.trim().endsWith("?"));
  return (lines[0] ?? asked).trim().slice(0, 200);
}

const PROSE =
  "The harbour lies still. Nets dry on the quay while the first boat leaves for the open water, and \
gulls follow it out past the light. ".repeat(4);
