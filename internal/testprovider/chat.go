package testprovider

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// completion is a chat completion, or a chunk of one.
type completion struct {
	ID                string   `json:"id"`
	Object            string   `json:"object"`
	Created           int64    `json:"created"`
	Model             string   `json:"model"`
	Choices           []choice `json:"choices"`
	ServiceTier       string   `json:"service_tier"`
	SystemFingerprint string   `json:"system_fingerprint"`
	Usage             any      `json:"usage,omitempty"` // usage, or null
}

type choice struct {
	Index        int     `json:"index"`
	Message      *said   `json:"message,omitempty"`
	Delta        *said   `json:"delta,omitempty"`
	Logprobs     any     `json:"logprobs"`
	FinishReason *string `json:"finish_reason"`
}

// said is a message of the assistant, or a part of one.
type said struct {
	Role      string `json:"role,omitempty"`
	Content   any    `json:"content,omitempty"` // a string, or null
	Refusal   any    `json:"refusal,omitempty"` // null
	ToolCalls []call `json:"tool_calls,omitempty"`
}

type call struct {
	Index    *int   `json:"index,omitempty"` // in a stream
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function struct {
		Name      string `json:"name,omitempty"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// null is a member that is there and null.
var null = json.RawMessage("null")

type usage struct {
	Prompt     int            `json:"prompt_tokens"`
	Completion int            `json:"completion_tokens"`
	Total      int            `json:"total_tokens"`
	Input      map[string]int `json:"prompt_tokens_details"`
	Output     map[string]int `json:"completion_tokens_details"`
}

// reply is what a model says.
type reply struct {
	id       string // ends the ids of the answer and its calls
	model    Model
	created  int64
	function string   // that is called; "": none is
	pieces   []string // of the text, or of the function's arguments
	choices  int      // that say the same
	finish   string   // the finish reason: stop, length, tool_calls
	usage    usage
}

// chat serves POST {base}/chat/completions.
func (t *Transport) chat(req *http.Request, body []byte) (any, error) {
	var r request
	if err := decode(body, &r); err != nil {
		return nil, err
	}
	model, err := findModel(r.Model)
	if err != nil {
		return nil, err
	}
	if model.Embeds {
		return nil, errValue("model", "the model %q makes embeddings only", model.ID)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	reply, err := r.reply(model)
	if err != nil {
		return nil, err
	}
	reply.id, reply.created = t.newID(), t.now().Unix()
	switch {
	case r.Stream:
		return newStream(req.Context(), reply, r.StreamOptions.IncludeUsage), nil
	case model.fails:
		return nil, errFails(model.ID)
	}
	if err := wait(req.Context(), nil, time.Duration(len(reply.pieces))*model.pace); err != nil {
		return nil, err
	}
	return reply.whole(), nil
}

// reply is what the model says: a text, or the call of a function.
func (r *request) reply(model Model) (*reply, error) {
	limit, err := r.outputLimit()
	if err != nil {
		return nil, err
	}
	called, err := r.called()
	if err != nil {
		return nil, err
	}
	reply := &reply{model: model, choices: 1, finish: "stop"}
	if r.N != nil {
		reply.choices = *r.N
	}
	text, results := model.fixed, r.results()
	switch {
	case results != nil:
		text = "The tool answered: " + strings.Join(results, "; ")
	case called != nil:
		reply.function, reply.finish, text = called.Name, "tool_calls", "{}"
		if present(called.Parameters) {
			if text, err = Example(called.Parameters); err != nil {
				return nil, errValue("tools", "no example for the parameters of function %q: %v", called.Name, err)
			}
		}
	case text == "":
		text = r.prompt().echo()
	}
	if reply.function == "" {
		if text, err = r.formatted(text); err != nil {
			return nil, err
		}
		text = r.Stop.cut(text)
	}
	var cut bool
	if reply.pieces, cut = splitTokens(text, limit); cut {
		reply.finish = "length"
	}
	in, out := r.inputTokens(), reply.choices*len(reply.pieces)
	reply.usage = usage{in, out, in + out, map[string]int{"cached_tokens": 0}, map[string]int{"reasoning_tokens": 0}}
	return reply, nil
}

// whole is the reply as one answer.
func (r *reply) whole() completion {
	choices := make([]choice, r.choices)
	for i := range choices {
		message, text := said{Role: "assistant", Content: null, Refusal: null}, strings.Join(r.pieces, "")
		if r.function == "" {
			message.Content = text
		} else {
			message.ToolCalls = []call{r.call(i, text)}
		}
		choices[i] = choice{Index: i, Message: &message, FinishReason: &r.finish}
	}
	c := r.completion("chat.completion", choices)
	c.Usage = r.usage
	return c
}

func (r *reply) completion(kind string, choices []choice) completion {
	return completion{
		ID: "chatcmpl-" + r.id, Object: kind, Created: r.created, Model: r.model.ID, Choices: choices,
		ServiceTier: "default", SystemFingerprint: "fp_testprovider",
	}
}

// call is the call of the function in one of the choices.
func (r *reply) call(choice int, arguments string) call {
	c := call{ID: "call_" + r.id, Type: "function"}
	if choice > 0 {
		c.ID += "_" + strconv.Itoa(choice)
	}
	c.Function.Name, c.Function.Arguments = r.function, arguments
	return c
}
