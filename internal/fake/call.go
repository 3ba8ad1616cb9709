package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// call is a request for an answer of a model, as far as this provider looks.
type call struct {
	family  family
	serial  int64
	created int64
	model   string
	mode    behaviour

	stream       bool
	includeUsage bool
	prompt       string // text of the last user message
	tools        toolUse
	schema       *schema
	allowed      int // output tokens

	said []string // the pieces of the answer, once made

	authorization string
	host, uri     string
	raw           map[string]json.RawMessage
}

type scripter func(*call) script

// model serves an endpoint that is chosen by the body's "model".
func (p *Provider) model(f family, answer scripter) http.Handler {
	return p.recorded(func(r *http.Request, body []byte) script {
		if r.Header.Get("Content-Encoding") != "" {
			return errorScript(f, http.StatusUnsupportedMediaType, "", "compressed bodies are not understood")
		}
		c, err := p.read(f, r, body)
		if err != nil {
			return errorScript(f, http.StatusBadRequest, "invalid_value", err.Error())
		}
		mode, ok := behaviourOf(c.model)
		if !ok {
			return errorScript(f, http.StatusNotFound, "model_not_found", fmt.Sprintf("no model %q", c.model))
		}
		c.mode = mode
		if strings.HasPrefix(c.uri, redirectPrefix) {
			c.mode = behaviours["echo"] // the end of the road, not a loop
		}
		s := p.answer(c, answer)
		for key, value := range c.mode.header {
			s.header.Add(key, value)
		}
		s.header.Set("X-Request-Id", fmt.Sprintf("req_fake_%d", c.serial))
		return s
	})
}

func (p *Provider) answer(c *call, answer scripter) script {
	switch {
	case c.mode.course == courseNoAnswer:
		return script{header: http.Header{}, end: endAbort, length: -1}
	case c.mode.answer != nil:
		return c.mode.answer(c)
	case c.mode.canned && strings.HasSuffix(c.uri, "/chat/completions"):
		s := p.canned.script(c)
		s.header = s.header.Clone()
		return s
	}
	s := answer(c)
	if c.mode.course == courseDelayed {
		s.steps = append([]step{{pause: c.mode.pause}}, s.steps...)
	}
	return s
}

// read takes from the body what the answer depends on. Keys that are not known
// are no error: the record shows them to the test.
func (p *Provider) read(f family, r *http.Request, body []byte) (*call, error) {
	c := &call{
		family: f, serial: p.serial.Add(1), created: p.now().Unix(),
		authorization: r.Header.Get("Authorization"), host: r.Host, uri: r.URL.Path,
	}
	if err := json.Unmarshal(body, &c.raw); err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	var in struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		StreamOptions *struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages       []message       `json:"messages"`
		Input          json.RawMessage `json:"input"`
		Tools          []tool          `json:"tools"`
		Limit          int             `json:"max_completion_tokens"`
		OldLimit       int             `json:"max_tokens"`
		OutputLimit    int             `json:"max_output_tokens"`
		ResponseFormat struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Schema *schema `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Text struct {
			Format struct {
				Type   string  `json:"type"`
				Schema *schema `json:"schema"`
			} `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("reading the body: %w", err)
	}
	c.model, c.stream = in.Model, in.Stream
	c.allowed = max(in.Limit, in.OldLimit, in.OutputLimit)
	// OpenRouter sends usage always; its include_usage has no effect.
	c.includeUsage = f == openRouter || in.StreamOptions != nil && in.StreamOptions.IncludeUsage
	c.look(in.Messages)
	c.lookInput(in.Input)
	c.tools.offer(in.Tools)
	c.tools.lookInput(in.Input)
	for _, kind := range []string{in.ResponseFormat.Type, in.Text.Format.Type} {
		if kind == "json_object" || kind == "json_schema" {
			c.schema = &schema{Type: "object"}
		}
	}
	for _, s := range []*schema{in.ResponseFormat.JSONSchema.Schema, in.Text.Format.Schema} {
		if s != nil {
			c.schema = s
		}
	}
	return c, nil
}
