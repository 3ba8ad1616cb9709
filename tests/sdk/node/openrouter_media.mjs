// @openrouter/sdk: embeddings, documents, pictures and sounds. Usage: node openrouter_media.mjs
// openrouter-1.2.27 (an alias in package.json). Against "direct", which is the fake provider without a
// gateway, it proves the fake; against "rt", which is OpenRouter, and "fake", which is OpenAI, it proves
// the gateway. The SDK validates every answer.

import assert from "node:assert/strict";
import { KEY, ORIGIN, PNG, TARGET, TIMEOUT, UNCALLABLE, ask, caught, collect, echo, find, main, test } from "./contract.mjs";

const alias = process.argv[2];
const { HTTPClient, OpenRouter } = await import(alias);
const errors = await import(`${alias}/models/errors`);

const DIRECT = TARGET === "direct";
const named = (model) => (DIRECT ? model : `${TARGET}/${model}`);
const MODEL = named("echo");
const SOUND = Buffer.from("RIFF".repeat(1000));

// The SDK does not show the headers of good answers; a hook does.
let last;
const gateway = new OpenRouter({
	apiKey: DIRECT ? process.env.FAKE_API_KEY : KEY,
	serverURL: `${DIRECT ? process.env.FAKE_ORIGIN : ORIGIN}/api/v1`,
	retryConfig: { strategy: "none" },
	timeoutMs: TIMEOUT,
	httpClient: new HTTPClient().addHook("response", (response) => {
		last = response.headers;
	}),
});

const recorded = async (fields) => DIRECT || (await find(last.get("x-request-id"), MODEL, { status: 200, ...fields }));

// notFound runs a call of a model that cannot be called.
async function notFound(fn) {
	if (DIRECT) return;
	const e = await caught(fn);
	assert.ok(e instanceof errors.NotFoundResponseError, String(e));
	assert.equal(e.error.code, 404);
}

test("embeddings", async () => {
	const reply = await gateway.embeddings.generate({ requestBody: { model: MODEL, input: ["a b", "c"], dimensions: 8 } });
	await recorded({ prompt_tokens: 3, completion_tokens: 0 });
	assert.deepEqual(reply.data.map((d) => [d.index, d.embedding.length]), [[0, 8], [1, 8]]);
	assert.equal(reply.model, MODEL);
});

test("documents are ranked", async () => {
	const rank = (model) => gateway.rerank.rerank({ requestBody: { model, query: "red", documents: ["a", "red", { text: "b" }], topN: 2 } });
	const reply = await rank(MODEL);
	await recorded();
	const texts = TARGET === "fake" ? [undefined, undefined] : ["a", "red"]; // Cohere sends none
	assert.deepEqual(reply.results.map((r) => [r.index, r.relevanceScore, r.document.text]), [[0, 0, texts[0]], [1, 1, texts[1]]]);
	assert.equal(reply.model, MODEL);
	if (TARGET !== "fake") assert.equal(reply.usage.searchUnits, 1); // Cohere's stand elsewhere
	await notFound(() => rank(UNCALLABLE));
});

const picture = (more) => gateway.images.generate({ imageGenerationRequest: { model: MODEL, prompt: "a red fox", ...more } });

if (TARGET === "fake") {
	test("pictures have an API of their own", async () => {
		const e = await caught(() => picture());
		assert.ok(e instanceof errors.NotFoundResponseError && /images/.test(e.message), String(e));
	});
} else {
	test("pictures are made", async () => {
		const reply = await picture({ n: 2, inputReferences: [{ type: "image_url", imageUrl: { url: PNG } }] });
		await recorded({ images: 2, completion_tokens: 544 });
		assert.deepEqual(reply.data.map((p) => [p.b64Json, p.mediaType]), Array(2).fill(["a red fox", "image/png"]));
		assert.deepEqual([reply.usage.promptTokens, reply.usage.completionTokens], [10, 544]);
		await notFound(() => picture({ model: UNCALLABLE }));
	});

	test("pictures are streamed", async () => {
		const events = async (model) => (await collect(await picture({ model: named(model), stream: true }))).map((e) => e.data ?? e);
		const seen = await events("echo");
		assert.deepEqual(seen.map((e) => [e.type, e.b64Json, e.usage.completionTokens]), [["image_generation.completed", "a red fox", 272]]);
		await recorded({ stream: true, images: 1 });
		if (DIRECT) return;
		// A provider that does not stream answers with the whole.
		assert.deepEqual((await events("no-stream")).map((e) => [e.type, e.b64Json]), [["image_generation.completed", "a red fox"]]);
		let end;
		try {
			end = (await events("err-mid-stream")).at(-1);
		} catch (e) {
			assert.ok(e instanceof errors.BadGatewayResponseError, String(e));
			return;
		}
		assert.ok(end.type === "error" && end.error.message, JSON.stringify(end));
	});

	test("a chat has pictures", async () => {
		const imageConfig = { aspect_ratio: "16:9" };
		const chatRequest = { model: MODEL, messages: ask("a fox"), modalities: ["image", "text"], imageConfig, stream: false };
		const { message } = (await gateway.chat.send({ chatRequest })).choices[0];
		await recorded();
		assert.equal(message.content, echo("a fox"));
		assert.deepEqual(message.images.map((i) => i.imageUrl.url.slice(0, 22)), ["data:image/png;base64,"]);
	});

	test("a sound in JSON is written", async () => {
		const write = (model) => gateway.stt.createTranscription({ sttRequest: { model, inputAudio: { data: SOUND.toString("base64"), format: "wav" } } });
		const reply = await write(MODEL);
		await recorded();
		assert.deepEqual([reply.text, reply.usage.seconds], [echo(""), 9.2]);
		await notFound(() => write(UNCALLABLE));
	});
}

test("a text is spoken", async () => {
	const speak = async (more) => {
		const stream = await gateway.tts.createSpeech({ speechRequest: { model: MODEL, input: "ten and ten characte", voice: "alloy", ...more } });
		return Buffer.from(await new Response(stream).arrayBuffer());
	};
	assert.equal((await speak()).length, 96_000); // the default is pcm
	assert.equal(last.get("content-type"), "audio/pcm");
	await recorded({ stream: false });
	assert.equal((await speak({ responseFormat: "mp3" }))[0], 0xff);
	assert.equal(last.get("content-type"), "audio/mpeg");
	await notFound(() => speak({ model: UNCALLABLE }));
});

test("a sound is written", async () => {
	const write = (more) =>
		gateway.stt.createTranscriptionMultipart({ requestBody: { model: MODEL, file: { fileName: "a.wav", content: SOUND }, language: "en", temperature: 0.5, ...more } });
	const reply = await write({ timestampGranularities: ["word", "segment"] });
	await recorded();
	assert.equal(reply.text, echo(""));
	assert.ok(reply.usage);
	assert.deepEqual((await write({ responseFormat: "verbose_json" })).segments.map((s) => s.text), [echo("")]);
	await notFound(() => write({ model: UNCALLABLE }));
});

await main();
