package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// maxStored bounds the responses that previous_response_id may name.
const maxStored = 10_000

// responseStore remembers the last prompt of each stored response.
type responseStore struct {
	mu      sync.Mutex
	prompts map[string]string
	order   []string
}

func newResponseStore() *responseStore { return &responseStore{prompts: make(map[string]string)} }

func (s *responseStore) put(id, prompt string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts[id] = prompt
	s.order = append(s.order, id)
	if len(s.order) > maxStored {
		delete(s.prompts, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *responseStore) get(id string) (prompt string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prompt, ok = s.prompts[id]
	return prompt, ok
}

// responsesScript answers POST /responses. A stored answer to a previous one
// repeats its prompt too, which shows that the provider really had it.
func (p *Provider) responsesScript(c *call) script {
	var in struct {
		Store    *bool   `json:"store"`
		Previous *string `json:"previous_response_id"`
	}
	for key, to := range map[string]any{"store": &in.Store, "previous_response_id": &in.Previous} {
		if raw, ok := c.raw[key]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				return errorScript(c.family, http.StatusBadRequest, "invalid_value", fmt.Sprintf("bad %q", key))
			}
		}
	}
	store := in.Store == nil || *in.Store
	if c.family == openRouter {
		if in.Previous != nil || in.Store != nil && *in.Store {
			return errorScript(c.family, http.StatusBadRequest, "", "this API keeps nothing: store and previous_response_id")
		}
		store = false
	}
	if in.Previous != nil {
		earlier, ok := p.stored.get(*in.Previous)
		if !ok {
			body := errorBody(openAI, http.StatusBadRequest, "previous_response_not_found", fmt.Sprintf("no response %q", *in.Previous))
			body.get("error").(object).with("param", "previous_response_id")
			return whole(http.StatusBadRequest, "application/json", encode(body))
		}
		c.prompt = earlier + " / " + c.prompt
	}
	if store {
		p.stored.put(c.responseID(), c.prompt)
	}
	if c.stream || c.mode.events > 0 {
		return c.streamScript(c.responseEvents(), c.responseFailure)
	}
	final := c.finalResponse()
	if c.mode.course == courseFailed {
		final = c.failedResponse()
	}
	return c.plainScript(encode(final), errorScript(c.family, http.StatusInternalServerError, "", c.complaint()))
}

func (c *call) responseID() string { return fmt.Sprintf("resp_fake_%d", c.serial) }

// echoed are the request's settings that a response repeats, with the values
// they have when the request does not name them.
var echoed = object{
	{"instructions", nil}, {"metadata", object{}}, {"parallel_tool_calls", true}, {"temperature", 1.0},
	{"tool_choice", "auto"}, {"tools", []any{}}, {"top_p", 1.0}, {"max_output_tokens", nil},
	{"previous_response_id", nil}, {"reasoning", object{{"effort", nil}, {"summary", nil}}}, {"store", true},
	{"text", object{{"format", object{{"type", "text"}}}}}, {"truncation", "disabled"}, {"user", nil},
	{"service_tier", "default"}, {"top_logprobs", 0}, {"background", false},
}

// response is the response object in a status.
func (c *call) response(status string, output []object, usage any) object {
	if output == nil {
		output = []object{}
	}
	var created, completed any = c.created, nil
	if c.mode.floatCreated {
		created = float64(c.created) + 0.25
	}
	if status == "completed" {
		completed = c.created
	}
	o := object{{"id", c.responseID()}, {"object", "response"}, {"created_at", created}, {"completed_at", completed},
		{"status", status}, {"error", nil}, {"incomplete_details", nil}, {"model", c.model}, {"output", output}}
	for _, f := range echoed {
		if raw, ok := c.raw[f.key]; ok {
			f.value = raw
		}
		o = append(o, f)
	}
	o = append(o, field{"usage", usage})
	if c.mode.sloppy {
		o = o.without("object", "completed_at", "error", "incomplete_details", "metadata", "background", "truncation")
	}
	return o
}

func (c *call) failedResponse() object {
	return c.response("failed", nil, nil).
		with("error", object{{"code", "server_error"}, {"message", c.complaint()}})
}

func (c *call) finalResponse() object {
	var output []object
	for _, it := range c.items() {
		output = append(output, it.done)
	}
	var used any
	if c.mode.usage != usageNever && !c.mode.nulls {
		used = c.usage().responses(c.family)
	}
	reason := map[string]string{"length": "max_output_tokens", "content_filter": "content_filter"}[c.mode.finish]
	if reason == "" {
		return c.response("completed", output, used)
	}
	return c.response("incomplete", output, used).with("incomplete_details", object{{"reason", reason}})
}
