// openai (npm) and the gateway's refusals, with the SDK's own retries.

import assert from "node:assert/strict";
import OpenAI from "openai";
import { ORIGIN, ask, main } from "./contract.mjs";
import { paramOf, register } from "./refusals.mjs";

// The SDK's class for a status. 402 and 413 have no class, and inside a stream it
// throws the same one.
const CLASSES = {
	400: OpenAI.BadRequestError,
	401: OpenAI.AuthenticationError,
	402: OpenAI.APIError,
	403: OpenAI.PermissionDeniedError,
	404: OpenAI.NotFoundError,
	413: OpenAI.APIError,
	422: OpenAI.UnprocessableEntityError,
	429: OpenAI.RateLimitError,
	502: OpenAI.InternalServerError,
	503: OpenAI.InternalServerError,
};
const IN_A_STREAM = OpenAI.APIError;

async function once(call, pieces) {
	const gateway = new OpenAI({ baseURL: `${ORIGIN}/v1`, apiKey: call.secret });
	const { model, streamed: stream, text, tokens } = call;
	if (call.api === "chat") {
		const limit = tokens ? { max_completion_tokens: tokens } : {};
		const answer = await gateway.chat.completions.create({ model, stream, messages: ask(text), ...limit });
		if (stream) for await (const chunk of answer) pieces.push(chunk.choices[0].delta.content ?? "");
		return;
	}
	const limit = tokens ? { max_output_tokens: tokens } : {};
	const answer = await gateway.responses.create({ model, stream, input: text, ...limit });
	if (stream) for await (const event of answer) pieces.push(event.type === "response.output_text.delta" ? event.delta : "");
}

function describe(call, outcome) {
	const e = outcome.error;
	console.log(`# ${e.constructor.name} ${e.message}`);
	assert.equal(e.constructor, call.inside ? IN_A_STREAM : CLASSES[call.status], e.stack);
	assert.deepEqual([e.code, e.type, e.param], [call.code, call.type, paramOf(call)]);
	outcome.message = e.message;
	if (call.inside) return assert.equal(e.status, undefined);
	assert.equal(e.status, call.status);
	assert.equal(e.requestID, e.headers.get("x-request-id"));
	assert.ok(e.requestID);
	Object.assign(outcome, { headers: e.headers, requestID: e.requestID });
}

register(once, describe);
await main();
