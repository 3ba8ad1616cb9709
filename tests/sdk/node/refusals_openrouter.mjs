// @openrouter/sdk and the gateway's refusals, with the SDK's own retries.
// Usage: node refusals_openrouter.mjs openrouter-1.2.27 (an alias in package.json)

import assert from "node:assert/strict";
import { ORIGIN, ask, main } from "./contract.mjs";
import { checkMetadata, register } from "./refusals.mjs";

const alias = process.argv[2];
const { OpenRouter } = await import(alias);
const errors = await import(`${alias}/models/errors`);

const CLASSES = {
	400: errors.BadRequestResponseError,
	401: errors.UnauthorizedResponseError,
	402: errors.PaymentRequiredResponseError,
	403: errors.ForbiddenResponseError,
	404: errors.NotFoundResponseError,
	413: errors.PayloadTooLargeResponseError,
	422: errors.UnprocessableEntityResponseError,
	429: errors.TooManyRequestsResponseError,
	502: errors.BadGatewayResponseError,
	503: errors.ServiceUnavailableResponseError,
};

// once returns the error in the last chunk of a stream, which the SDK does not throw.
async function once(call, pieces) {
	const gateway = new OpenRouter({ apiKey: call.secret, serverURL: `${ORIGIN}/api/v1` });
	const { model, streamed: stream, text, tokens } = call;
	const limit = tokens ? { maxCompletionTokens: tokens } : {};
	const answer = await gateway.chat.send({ chatRequest: { model, stream, messages: ask(text), ...limit } });
	let last;
	if (stream) {
		for await (last of answer) pieces.push(last.choices[0]?.delta.content ?? "");
	}
	if (last?.error) assert.equal(last.choices[0].finishReason, "error");
	return last?.error;
}

function describe(call, outcome) {
	const e = outcome.error;
	if (call.inside) {
		console.log(`# nothing thrown, chunk.error: ${JSON.stringify(e)}`);
		assert.deepEqual([e.code, e.metadata.errorType ?? e.metadata.error_type], [call.status, call.error_type]);
		outcome.message = e.message;
		return;
	}
	console.log(`# ${e.constructor.name} ${outcome.waits.length} ${e.message}`);
	assert.equal(e.constructor, CLASSES[call.status], e.stack);
	assert.deepEqual([e.statusCode, e.error.code], [call.status, call.status]);
	checkMetadata(call, e.error.metadata);
	assert.match(e.headers.get("x-generation-id"), /^gen-/);
	Object.assign(outcome, { message: e.error.message, headers: e.headers, requestID: e.headers.get("x-request-id") });
}

register(once, describe);
await main();
