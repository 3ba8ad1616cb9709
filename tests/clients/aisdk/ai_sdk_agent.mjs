// One run of an agent of the AI SDK, as ../python/agent.py does it.
//
//	ai_sdk_agent.mjs chat|responses|compatible
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

// settings
const gateway = { baseURL: process.env.GATEWAY_BASE_URL, apiKey: process.env.GATEWAY_API_KEY };
const responses = createOpenAI(gateway)(process.env.GATEWAY_MODEL);
const chat = createOpenAI(gateway).chat(process.env.GATEWAY_MODEL);
const compatible = createOpenAICompatible({ ...gateway, name: 'gatehouse' })(process.env.GATEWAY_MODEL);
// end of settings

const read_file = tool({
	description: 'Reads a file.',
	inputSchema: z.object({ name: z.string() }),
	execute: ({ name }) => readFile(name, 'utf8'),
});
let failed;
const result = streamText({
	model: { responses, chat, compatible }[process.argv[2]],
	tools: { read_file },
	stopWhen: stepCountIs(3),
	prompt: await text(process.stdin),
	onError: ({ error }) => { failed = `${error.name}: ${error.message}`; },
});
try {
	const said = await result.text;
	console.log(JSON.stringify(failed ? { failed } : { said }));
} catch (error) {
	console.log(JSON.stringify({ failed: failed ?? `${error.name}: ${error.message}` }));
}
