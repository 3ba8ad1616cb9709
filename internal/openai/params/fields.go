package params

import (
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// boundedFields are the fields that cannot make a request cost more than its bytes, its images and
// its output limit say, or whose price is judged elsewhere (tools, n, service_tier, …). Under a
// hard budget every other field is refused. So a missing field is not yet known, or missing on
// purpose: searches (search_parameters, enable_search), dearer service (speed, inference_geo), more
// or longer choices by another name (best_of, n_predict), and envelopes that may hold all of these
// (extra_body).
var boundedFields = func() map[string]bool {
	fields := make(map[string]bool)
	for _, names := range [...]string{
		// Chat completions and Responses.
		`audio background conversation frequency_penalty function_call functions include input instructions logit_bias logprobs
		max_completion_tokens max_output_tokens max_tokens max_tool_calls messages metadata modalities model n parallel_tool_calls
		prediction presence_penalty previous_response_id prompt moderation prompt_cache_key prompt_cache_options prompt_cache_retention reasoning reasoning_effort
		response_format safety_identifier seed service_tier stop store stream stream_options temperature text tool_choice tools
		top_logprobs top_p truncation user verbosity web_search_options`,
		// Bookkeeping of their clients.
		`client_metadata request_id session_id tags trace trace_id user_id`,
		// OpenRouter; provider and plugins are judged in more detail elsewhere.
		`cache_control debug image_config include_reasoning models plugins preset provider route stop_server_tools_when top_a
		transforms usage`,
		// Sampling, as most servers of open models know it.
		`bad_words do_sample dry_allowed_length dry_base dry_multiplier dry_penalty_last_n dry_sequence_breakers eta_cutoff
		epsilon_cutoff ignore_eos length_penalty logit_processors logits_processors min_p min_tokens mirostat mirostat_eta
		mirostat_tau no_repeat_ngram_size random_seed repeat_last_n repeat_penalty repetition_penalty stop_sequences
		stop_token_ids temperature_last tfs top_k top_n_sigma typical typical_p xtc_probability xtc_threshold`,
		// vLLM, SGLang, llama.cpp, Fireworks, Together: templates, formats and what the answer
		// shows.
		`add_generation_prompt add_special_tokens allowed_token_ids cache_prompt cache_salt chat_template_kwargs
		continue_final_message echo ebnf grammar guided_choice guided_decoding_backend guided_grammar guided_json guided_regex
		guided_whitespace_pattern include_stop_str_in_output json_schema keep_alive n_probs prompt_logprobs
		raw_output regex return_token_ids return_tokens_as_token_ids separate_reasoning skip_special_tokens
		spaces_between_special_tokens stream_reasoning structural_tag structured_outputs timings_per_token`,
		// Reasoning.
		`enable_thinking output_config preserve_thinking reasoning_format reasoning_split thinking`,
		// Embeddings: OpenAI, OpenRouter, Mistral, Voyage, Jina, vLLM.
		`dimensions embedding_type encoding_format input_type late_chunking normalize normalized output_dimension output_dtype task
		truncate truncate_prompt_tokens`,
		// Rerank: Cohere, Jina, Voyage, vLLM.
		`documents max_chunks_per_doc max_tokens_per_doc query rank_fields return_documents top_n`,
		// Anthropic.
		`diagnostics output_format`,
		// Mistral, Groq, Gemini, Zhipu and MiniMax.
		`disable_tool_validation mask_sensitive_info prompt_mode safe_prompt safety_settings tool_stream`,
	} {
		maps.Copy(fields, setOf(names))
	}
	return fields
}()

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
