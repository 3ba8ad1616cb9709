package params

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// hostedField is a top-level field that makes a provider run something of its own. The values null,
// false, "off" and an empty list switch it off.
type hostedField struct {
	by       string   // the member that switches it off
	harmless []string // members that run nothing; the field is off if all others are
}

// hostedFields is the table of them. Providers ignore those that they do not know.
var hostedFields = map[string]hostedField{
	// OpenAI, chat completions (openai-python 3.54, completion_create_params.py).
	"web_search_options": {},
	// OpenAI, Responses, guide "Multi-agent": subagents on OpenAI's servers.
	"multi_agent": {by: "enabled"},
	// xAI, "Live Search": the default mode is auto.
	"search_parameters": {by: "mode"},
	// Alibaba Model Studio, "Web search" and "Code interpreter".
	"enable_search":           {},
	"enable_code_interpreter": {},
	// Baidu Qianfan, chat completions, "web_search".
	"web_search": {by: "enable"},
	// Groq, "Compound": the built-in tools of a system of models.
	"compound_custom": {},
	// Azure OpenAI, "On Your Data": indices of the account.
	"data_sources": {},
	// Anthropic, "MCP connector".
	"mcp_servers": {},
	// Venice, chat completions: search, scraping, characters with prompts of their own.
	"venice_parameters": {harmless: []string{
		"disable_thinking", "enable_web_citations", "include_search_results_in_stream", "include_venice_system_prompt",
		"return_search_results_as_documents", "strip_thinking_response",
	}},
}

// off reports whether the field runs nothing with this value.
func (h hostedField) off(value []byte) bool {
	switch value[0] {
	case '[':
		for range jsonscan.AllElements(value) {
			return false
		}
		return true
	case '{':
	default:
		return isOff(value)
	}
	off := h.harmless != nil
	for m := range jsonscan.AllMembers(value) {
		key := m.DecodedKey(value)
		folded := string(foldKey(key))
		if slices.Contains(h.harmless, folded) || h.harmless == nil && folded != h.by {
			continue
		}
		if !isOff(m.Value(value)) {
			return false
		}
		off = off || string(key) == h.by // in another spelling it may count or not
	}
	return off
}

func isOff(value []byte) bool {
	return value[0] == 'n' || value[0] == 'f' || string(value) == `"off"`
}

// dataFields are top-level fields that may have a member tools which declares none: labels of the
// caller, variables of a template, formats of an answer. Other unknown fields are searched for
// tools.
var dataFields = map[string]bool{
	"metadata": true, "client_metadata": true, "trace": true,
	"chat_template_kwargs": true,
	"response_format":      true, "text": true, "output_config": true, "output_format": true, "json_schema": true,
	"guided_json": true, "structured_outputs": true,
}
