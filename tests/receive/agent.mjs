// An agent in JavaScript: one turn of two model calls and a tool, sent over OTLP.
//
// node agent.mjs <plain|ai6|ai7|ai7-legacy> <json|protobuf> <endpoint>
//
// The models are the AI SDK's own mocks; everything else is what an application would use.

import { context, trace, SpanStatusCode } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { z } from 'zod';

const [, , kind, encoding, endpoint] = process.argv;
const Exporter = encoding === 'json' ? JsonExporter : ProtobufExporter;
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({
    'service.name': `js-${kind}`,
    'deployment.environment.name': 'staging',
  }),
  spanProcessors: [
    new BatchSpanProcessor(new Exporter({ url: `${endpoint}/v1/traces`, compression: 'gzip' })),
  ],
});
provider.register();

const QUESTION = 'What is the weather in Oslo?';
const ANSWER = 'It is 4 degrees in Oslo.';

async function plain() {
  const tracer = trace.getTracer('my-agent', '1.2.3');
  await tracer.startActiveSpan('invoke_agent weather', async (agent) => {
    agent.setAttributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'weather',
      'gen_ai.conversation.id': 'session-1',
    });
    const said = [{ role: 'user', parts: [{ type: 'text', content: QUESTION }] }];
    const asked = { type: 'tool_call', id: 'c1', name: 'weather', arguments: { city: 'Oslo' } };
    const answered = { type: 'tool_call_response', id: 'c1', response: '4' };
    const chat = (messages, reply, finish) => {
      const span = tracer.startSpan('chat gpt-4o');
      span.setAttributes({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.conversation.id': 'session-1',
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 20,
        'gen_ai.response.finish_reasons': [finish],
        'gen_ai.input.messages': JSON.stringify(messages),
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [reply] }]),
      });
      span.end();
    };
    chat(said, asked, 'tool_calls');
    const tool = tracer.startSpan('execute_tool weather');
    tool.setAttributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'weather',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.call.arguments': '{"city":"Oslo"}',
      'gen_ai.tool.call.result': '4',
      'gen_ai.conversation.id': 'session-1',
    });
    tool.addEvent('looked up', { station: 'Blindern' });
    tool.end();
    chat(
      [
        ...said,
        { role: 'assistant', parts: [asked] },
        { role: 'tool', parts: [answered] },
      ],
      { type: 'text', content: ANSWER },
      'stop',
    );
    const failed = tracer.startSpan('GET /map', { links: [{ context: agent.spanContext() }] });
    failed.setStatus({ code: SpanStatusCode.ERROR, message: 'no map' });
    failed.end();
    agent.end();
  });
}

const replies = [
  [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"city":"Oslo"}' }],
  [{ type: 'text', text: ANSWER }],
];

async function ai7(Telemetry) {
  const { generateText, registerTelemetry, isStepCount, stepCountIs, tool } = await import('ai');
  const { MockLanguageModelV4 } = await import('ai/test');
  const otel = await import('@ai-sdk/otel');
  // Where a session is told: docs/receive.md says the same.
  const enrichSpan = ({ runtimeContext }) => ({
    'gen_ai.conversation.id': runtimeContext?.sessionId,
  });
  registerTelemetry(new otel[Telemetry]({ enrichSpan }));
  let step = 0;
  const model = new MockLanguageModelV4({
    provider: 'openai.chat',
    modelId: 'gpt-4o',
    doGenerate: async () => ({
      content: replies[step],
      finishReason: { unified: step++ ? 'stop' : 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: 100, noCache: 100, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 20, text: 20, reasoning: undefined },
      },
      response: { id: `r${step}`, modelId: 'gpt-4o-2024-08-06' },
      warnings: [],
    }),
  });
  const result = await generateText({
    model,
    prompt: QUESTION,
    stopWhen: (isStepCount ?? stepCountIs)(5),
    runtimeContext: { sessionId: 'session-1' },
    telemetry: { functionId: 'weather', includeRuntimeContext: { sessionId: true } },
    tools: {
      weather: tool({
        description: 'The weather',
        inputSchema: z.object({ city: z.string() }),
        execute: async () => '4',
      }),
    },
  });
  if (result.text !== ANSWER) throw new Error(result.text);
}

async function ai6() {
  const { generateText, stepCountIs, tool } = await import('ai6');
  const { MockLanguageModelV3 } = await import('ai6/test');
  let step = 0;
  const model = new MockLanguageModelV3({
    provider: 'openai.chat',
    modelId: 'gpt-4o',
    doGenerate: async () => ({
      content: replies[step],
      finishReason: { unified: step++ ? 'stop' : 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: 100, noCache: 100, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 20, text: 20, reasoning: undefined },
      },
      response: { id: `r${step}`, modelId: 'gpt-4o-2024-08-06' },
      warnings: [],
    }),
  });
  await generateText({
    model,
    prompt: QUESTION,
    stopWhen: stepCountIs(5),
    experimental_telemetry: {
      isEnabled: true,
      functionId: 'weather',
      metadata: { sessionId: 'session-1', userId: 'ada' },
    },
    tools: {
      weather: tool({
        description: 'The weather',
        inputSchema: z.object({ city: z.string() }),
        execute: async () => '4',
      }),
    },
  });
}

const agents = {
  plain,
  ai6,
  ai7: () => ai7('OpenTelemetry'),
  'ai7-legacy': () => ai7('LegacyOpenTelemetry'),
};
await agents[kind]();
await provider.forceFlush();
await provider.shutdown();
console.log(context.active() ? 'sent' : '');
