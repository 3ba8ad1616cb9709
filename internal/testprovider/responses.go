package testprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

var inputRoles = []string{"system", "developer", "user", "assistant"}

// responsesRequest holds the fields of a Responses request that matter here, and those
// that the response object repeats.
type responsesRequest struct {
	Model        *string         `json:"model"`
	Input        *responsesInput `json:"input"`
	Instructions *string         `json:"instructions"`

	Tools      []json.RawMessage `json:"tools"`
	ToolChoice json.RawMessage   `json:"tool_choice"`
	Text       struct {
		Format    json.RawMessage `json:"format"`
		Verbosity *string         `json:"verbosity"`
	} `json:"text"`
	MaxOutputTokens *int `json:"max_output_tokens"`
	Stream          bool `json:"stream"`

	PreviousResponseID json.RawMessage `json:"previous_response_id"`
	Conversation       json.RawMessage `json:"conversation"`
	Prompt             json.RawMessage `json:"prompt"`
	Background         bool            `json:"background"`

	MaxToolCalls      *int              `json:"max_tool_calls"`
	Metadata          map[string]string `json:"metadata"`
	ParallelToolCalls *bool             `json:"parallel_tool_calls"`
	PromptCacheKey    *string           `json:"prompt_cache_key"`
	Reasoning         struct {
		Effort  *string `json:"effort"`
		Summary *string `json:"summary"`
	} `json:"reasoning"`
	SafetyIdentifier *string  `json:"safety_identifier"`
	Temperature      *float64 `json:"temperature"`
	TopLogprobs      *int     `json:"top_logprobs"`
	TopP             *float64 `json:"top_p"`
	Truncation       *string  `json:"truncation"`
	User             *string  `json:"user"`
}

// responsesInput is a string, which is one user message, or an array of items.
type responsesInput []inputItem

type inputItem struct {
	Type      string  `json:"type"`
	Role      string  `json:"role"`
	Content   content `json:"content"`
	Arguments string  `json:"arguments"`
	Output    content `json:"output"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (in *responsesInput) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*in = responsesInput{{Role: "user", Content: content{text: text}}}
		return nil
	}
	var raw []json.RawMessage
	if json.Unmarshal(data, &raw) != nil {
		return errValue("input", "input is a string or an array of items")
	}
	// Reasoning and hosted-tool items have contents of their own, none of which
	// matters here, so only the kinds below are looked into.
	*in = responsesInput{}
	for i, r := range raw {
		var kind struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(r, &kind); err != nil {
			return errValue(fmt.Sprintf("input[%d]", i), "an item of input is an object")
		}
		item := inputItem{Type: kind.Type}
		switch kind.Type {
		case "", "message", "function_call", "function_call_output":
			if err := json.Unmarshal(r, &item); err != nil {
				return errValue(fmt.Sprintf("input[%d]", i), "%v", err)
			}
		}
		*in = append(*in, item)
	}
	return nil
}

// ask checks the request and takes it out of its wire shape.
func (r *responsesRequest) ask() (*ask, error) {
	model, err := findModel(r.Model)
	if err != nil {
		return nil, err
	}
	switch {
	case present(r.PreviousResponseID):
		return nil, errState("previous_response_id")
	case present(r.Conversation):
		return nil, errState("conversation")
	case present(r.Prompt):
		return nil, errUnsupported("prompt")
	case r.Background:
		return nil, errUnsupported("background")
	case r.Input == nil:
		return nil, errMissing("input")
	case len(*r.Input) == 0:
		return nil, errValue("input", "input is empty")
	}
	a := &ask{model: model, param: "text.format", limit: r.MaxOutputTokens, limitKey: "max_output_tokens"}
	if err := r.askTools(a); err != nil {
		return nil, err
	}
	if present(r.Text.Format) && json.Unmarshal(r.Text.Format, &a.format) != nil {
		return nil, errValue(a.param, "text.format is an object")
	}
	if r.Instructions != nil {
		a.input = countTokens(*r.Instructions)
	}
	return a, r.Input.addTo(a)
}

func (r *responsesRequest) askTools(a *ask) error {
	tools := make([]tool, len(r.Tools))
	for i, raw := range r.Tools {
		if json.Unmarshal(raw, &tools[i]) != nil {
			return errValue(fmt.Sprintf("tools[%d]", i), "a tool is an object with a type")
		}
	}
	var err error
	if a.offered, err = functions(tools); err != nil {
		return err
	}
	if present(r.ToolChoice) {
		return a.choice.UnmarshalJSON(r.ToolChoice)
	}
	return nil
}

// addTo adds the conversation to a. Unlike in chat, a call is an item of its own,
// which may stand between two results of one turn.
func (in responsesInput) addTo(a *ask) error {
	for i, item := range in {
		a.input += countTokens(item.Content.text) + countTokens(item.Output.text) + countTokens(item.Arguments)
		switch item.Type {
		case "", "message":
			if !slices.Contains(inputRoles, item.Role) {
				return errValue(fmt.Sprintf("input[%d].role", i), "unknown role: %q", item.Role)
			}
			if item.Role == "user" {
				a.user = item.Content
			}
			a.results = nil
		case "function_call_output":
			a.results = append(a.results, item.Output)
		case "item_reference":
			return errState(fmt.Sprintf("input[%d]", i))
		}
	}
	if in[len(in)-1].Type != "function_call_output" {
		a.results = nil
	}
	return nil
}

// responses serves POST {base}/responses.
func (t *Transport) responses(req *http.Request) (answer, error) {
	var r responsesRequest
	if err := decode(req, &r); err != nil {
		return answer{}, err
	}
	a, err := r.ask()
	if err != nil {
		return answer{}, err
	}
	said, err := a.reply()
	if err != nil {
		return answer{}, err
	}
	m := &responsesReply{
		reply: said, now: t.now, base: newResponseObject(&r, a.model.ID),
		usage: newResponsesUsage(a.input, len(said.tokens)),
	}
	m.base.ID, m.base.CreatedAt = t.newID("resp_"), t.now().Unix()
	if said.function != "" {
		m.itemID, m.callID = t.newID("fc_"), t.newID("call_")
	} else {
		m.itemID = t.newID("msg_")
	}
	delay := t.wordDelay(a.model)
	if r.Stream {
		s := m.script()
		s.delay = delay
		if a.model.fails {
			s.cut = failAfter
		}
		return answer{stream: s}, nil
	}
	if a.model.fails {
		return answer{}, errFails(a.model.ID)
	}
	if err := t.pause(req.Context(), time.Duration(len(said.tokens))*delay); err != nil {
		return answer{}, err
	}
	return answer{body: m.final()}, nil
}
