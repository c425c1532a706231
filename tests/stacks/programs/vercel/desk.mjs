// The Vercel AI SDK in a loop of one's own, which sends its spans to `turnspan receive`.
//
//   node desk.mjs '{"stream": false, "scripts": [["..."]]}'
//
// The last line printed is what happened, as JSON.
import { createOpenAI } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { generateText, isStepCount, registerTelemetry, streamText, tool } from 'ai';
import { z } from 'zod';

const options = JSON.parse(process.argv[2]);
const processor = new SimpleSpanProcessor(new OTLPTraceExporter());
const provider = new NodeTracerProvider({ spanProcessors: [processor] });
provider.register();
registerTelemetry(new OpenTelemetry());

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const ran = [];
const WEATHER = '25 degrees and sunny';
const tools = {
  get_weather: tool({
    description: 'The weather in a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async (given) => {
      ran.push({ name: 'get_weather', arguments: given, result: WEATHER });
      return WEATHER;
    },
  }),
  broken_lookup: tool({
    description: 'Look an order up.',
    inputSchema: z.object({ order_id: z.number().int() }),
    execute: async (given) => {
      ran.push({ name: 'broken_lookup', arguments: given, result: null });
      throw new Error(`order ${given.order_id} not in database`);
    },
  }),
};

function start() {
  const messages = [];
  return async (text) => {
    messages.push({ role: 'user', content: text });
    const asked = {
      model: openai.chat('gpt-4o'),
      instructions: 'You are the help desk. Be brief.',
      messages,
      tools,
      stopWhen: isStepCount(5),
      maxRetries: 0,
    };
    if (!options.stream) {
      const result = await generateText(asked);
      messages.push(...(await result.responseMessages));
      return result.text;
    }
    const result = streamText(asked);
    await result.consumeStream();
    messages.push(...(await result.responseMessages));
    return await result.text;
  };
}

const open = options.scripts.map(() => start());
const replies = options.scripts.map(() => []);
for (let row = 0; row < Math.max(...options.scripts.map((s) => s.length)); row++) {
  for (const [number, script] of options.scripts.entries()) {
    if (row < script.length) replies[number].push(await open[number](script[row]));
  }
}
await provider.shutdown();
console.log('\n' + JSON.stringify({ replies, ran, flushed: true, report: [], named: [] }));
