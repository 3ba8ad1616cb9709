package params

import (
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Fields are the fields of a request that cannot make it cost more than its bytes, its images and its
// output limit say, or whose price is judged elsewhere (tools, n, service_tier, …). Under a hard
// budget every other field is refused. So a missing field is not yet known, or missing on purpose:
// searches (search_parameters, enable_search), dearer service (speed, inference_geo), more or longer
// choices by another name (best_of, n_predict), and envelopes that may hold all of these
// (extra_body). Each operation has its own: what one bounds another does not.
type Fields map[string]bool

// Unknown returns the first other field of a request, cut to 64 bytes; "" for none.
func (f Fields) Unknown(b *jsonscan.Body) string {
	for _, m := range b.Members() {
		key := m.Key(b.Data())
		if m.Kind == 'n' || f[string(key)] || b.TwoSpellings && f[googleKey(key)] {
			continue
		}
		if h, ok := hostedFields[string(key)]; !ok || !h.off(m.Value(b.Data())) {
			return string(key[:min(len(key), maxTypeName)])
		}
	}
	return ""
}

func fieldsOf(names ...string) Fields {
	fields := make(Fields)
	for _, list := range names {
		maps.Copy(fields, setOf(list))
	}
	return fields
}

const (
	// everyField is what requests have in common: the model, and the bookkeeping of clients and of
	// OpenRouter, whose provider and plugins are judged in more detail elsewhere.
	everyField = `model user metadata safety_identifier client_metadata request_id session_id tags trace trace_id user_id
		models provider route preset plugins transforms debug usage keep_alive cache_salt`

	// textFields are those of requests for text, as most servers know them.
	textFields = everyField + `
		frequency_penalty logit_bias logprobs presence_penalty seed stop stop_sequences store stream stream_options temperature top_k top_logprobs top_p
		service_tier prompt_cache_key prompt_cache_options prompt_cache_retention
		parallel_tool_calls tool_choice tools moderation verbosity cache_control image_config include_reasoning stop_server_tools_when` +
		// Sampling.
		` bad_words do_sample dry_allowed_length dry_base dry_multiplier dry_penalty_last_n dry_sequence_breakers eta_cutoff
		epsilon_cutoff ignore_eos length_penalty logit_processors logits_processors min_p min_tokens mirostat mirostat_eta
		mirostat_tau no_repeat_ngram_size random_seed repeat_last_n repeat_penalty repetition_penalty
		stop_token_ids temperature_last tfs top_a top_n_sigma typical typical_p xtc_probability xtc_threshold` +
		// vLLM, SGLang, llama.cpp, Fireworks, Together: templates, formats and what the answer shows.
		` add_generation_prompt add_special_tokens allowed_token_ids cache_prompt chat_template_kwargs
		continue_final_message echo ebnf grammar guided_choice guided_decoding_backend guided_grammar guided_json guided_regex
		guided_whitespace_pattern include_stop_str_in_output json_schema n_probs prompt_logprobs
		raw_output regex response_format return_token_ids return_tokens_as_token_ids separate_reasoning skip_special_tokens
		spaces_between_special_tokens stream_reasoning structural_tag structured_outputs timings_per_token truncate_prompt_tokens` +
		// Reasoning.
		` enable_thinking output_config preserve_thinking reasoning reasoning_effort reasoning_format reasoning_split thinking
		thinking_budget reasoning_budget` +
		// Mistral, Groq, Gemini, Zhipu and MiniMax.
		` disable_tool_validation mask_sensitive_info prompt_mode safe_prompt safety_settings tool_stream`

	pictureNames = `prompt n aspect_ratio background image_config input_fidelity moderation output_compression output_format partial_images quality
		resolution response_format seed size stream style`
)

// The fields of each operation.
var (
	ChatFields = fieldsOf(textFields, `messages audio context_management documents function_call functions max_completion_tokens max_tokens modalities n
		prediction web_search_options`)
	ResponsesFields = fieldsOf(textFields, `background context_management conversation include input instructions max_output_tokens max_tool_calls
		previous_response_id prompt text truncation`)
	MessagesFields    = fieldsOf(textFields, `messages system max_tokens context_management diagnostics output_format fallbacks`)
	CompletionsFields = fieldsOf(textFields, `prompt best_of max_tokens n suffix`)

	// Embeddings: OpenAI, OpenRouter, Mistral, Voyage, Jina, vLLM.
	EmbeddingsFields = fieldsOf(everyField, `input add_special_tokens dimensions embedding_type encoding_format input_type late_chunking normalize normalized
		output_dimension output_dtype stream task truncate truncate_prompt_tokens truncation`)
	// Rerank: Cohere, Jina, Voyage, vLLM.
	RerankFields = fieldsOf(everyField, `documents query max_chunks_per_doc max_tokens_per_doc rank_fields return_documents stream top_k top_n
		truncate_prompt_tokens truncation`)
	ModerationsFields = fieldsOf(everyField, `input stream`)

	ImageFields       = fieldsOf(everyField, pictureNames, `input_references`)
	ImageEditFields   = fieldsOf(everyField, pictureNames, `image image[] images mask`)
	SpeechFields      = fieldsOf(everyField, `input instructions response_format speed stream stream_format voice`)
	TranscriptsFields = fieldsOf(everyField, `file input_audio chunking_strategy include include[] known_speaker_names known_speaker_names[] language
		prompt response_format stream temperature timestamp_granularities timestamp_granularities[]`)

	// Those of Google's API are as googleKey has them. [GenerateReferences] judges the tools.
	GenerateFields = fieldsOf(`model contents systeminstruction generationconfig servicetier tools toolconfig safetysettings cachedcontent labels
		continuationtoken store`)
	EmbedFields      = fieldsOf(`model content embedcontentconfig tasktype title outputdimensionality autotruncate`)
	BatchEmbedFields = fieldsOf(`model requests`)
)

// outsideOnly are fields that the gateway judges or sets, and that are judged nowhere but at the top
// of a request. So are [outputNames] and [optionFields].
var outsideOnly = setOf(`model models provider route preset plugins transforms fallbacks stream stream_options messages input system instructions
	n best_of num_return_sequences num_completions candidate_count service_tier speed inference_geo modalities audio prediction logprobs top_logprobs
	reasoning reasoning_effort thinking thinking_budget reasoning_budget output_config context_management cache_control
	max_tool_calls extra_body`)

// clearing are prefixes of the types of context edits that only remove something, which is free
// (Anthropic: clear_tool_uses_20250919, clear_thinking_20251015). A compaction is written by the
// model and billed.
var clearing = []string{"clear_tool_uses_", "clear_thinking_"}

// maxContextManagement bounds the text that is searched for edits, in bytes: a few edits have some
// hundreds.
const maxContextManagement = 1 << 14

// onlyClears reports whether all edits of context_management are of those types. Its value is
// {"edits": […]} or the list itself.
func onlyClears(value []byte) bool {
	if len(value) > maxContextManagement {
		return false
	}
	if value[0] == '{' {
		members := jsonscan.Members(value, nil)
		if len(members) != 1 || string(members[0].Key(value)) != "edits" {
			return len(members) == 0
		}
		value = members[0].Value(value)
	}
	if value[0] != '[' {
		return false
	}
	for _, e := range jsonscan.Elements(value, nil) {
		edit, typed := e.Value(value), false
		for _, m := range jsonscan.Members(edit, nil) {
			if string(foldKey(m.DecodedKey(edit))) != "type" {
				continue
			}
			name, _ := jsonscan.String(m.Value(edit))
			if !slices.ContainsFunc(clearing, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
				return false
			}
			typed = true
		}
		if !typed {
			return false
		}
	}
	return true
}
