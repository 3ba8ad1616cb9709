package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

// call is a request for an answer of a model.
type call struct {
	*answers.Request
	http   *http.Request
	api    api
	id     string // of the request
	mode   behaviour
	prompt string // text of the last user message

	reply     *answers.Reply
	showUsage bool
}

// reader reads the body of a call, and says what a good answer to it is.
type reader func(*http.Request, []byte) (*answers.Request, func(*call) script, error)

// model serves an endpoint that is chosen by the body's "model".
func (p *Provider) model(a api, read reader) http.Handler {
	return p.recorded(func(r *http.Request, body []byte) script {
		serial := p.serial.Add(1)
		c := &call{http: r, api: a, id: fmt.Sprintf("req_fake_%d", serial)}
		s := p.answer(c, body, read, fmt.Sprintf("fake_%d", serial))
		for key, value := range c.mode.header {
			s.header.Add(key, value)
		}
		if a == anthropic {
			s.header.Set("Request-Id", c.id)
		} else {
			s.header.Set("X-Request-Id", c.id)
		}
		return s
	})
}

// answer is the answer to a call. id ends the ids in it.
func (p *Provider) answer(c *call, body []byte, read reader, id string) script {
	if c.http.Header.Get("Content-Encoding") != "" {
		return c.fails(http.StatusUnsupportedMediaType, "", "compressed bodies are not understood")
	}
	request, answer, err := read(c.http, body)
	if err != nil {
		return c.fails(http.StatusBadRequest, "invalid_value", err.Error())
	}
	mode, ok := p.attempts.next(request.Model)
	if !ok {
		return c.fails(http.StatusNotFound, "model_not_found", fmt.Sprintf("no model %q", request.Model))
	}
	if strings.HasPrefix(c.http.URL.Path, redirectPrefix) {
		mode = behaviours["echo"] // the end of the redirect, not a loop
	}
	c.Request, c.mode, c.prompt = request, mode, request.Prompt().Text
	c.reply = &answers.Reply{ID: id, Model: c.Model, Now: p.Now, Created: p.Now().Unix()}
	var s script
	switch {
	case mode.refuses != nil && mode.refuses(c):
		s = c.fails(http.StatusBadRequest, "invalid_value", c.complaint())
	case mode.answer != nil:
		s = mode.answer(c)
	default:
		s = answer(c)
	}
	switch mode.retryAfter {
	case "":
	case "none":
		s.header.Del("Retry-After")
	default:
		s.header.Set("Retry-After", mode.retryAfter)
	}
	return s
}

// openAIBody reads the body of chat or Responses.
func openAIBody(answer func(*call) script) reader {
	return func(_ *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
		r, err := answers.ParseRequest(body)
		return r, answer, err
	}
}

// embeddingsBody reads the body of a call of POST /embeddings.
func embeddingsBody(_ *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
	var r testprovider.EmbeddingRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, nil, err
	}
	made, err := r.Embed()
	if err != nil {
		return nil, nil, err
	}
	result := object{}.With("object", made.Object).With("data", made.Data).With("model", made.Model).With("usage", made.Usage)
	return &answers.Request{Model: r.Model}, func(c *call) script { return c.plainScript(result) }, nil
}

// streams reports whether the answer is a stream.
func (c *call) streams() bool { return c.Stream || c.mode.events > 0 }

// chatScript answers POST /chat/completions.
func chatScript(c *call) script {
	if err := c.prepare(); err != nil {
		return c.fails(http.StatusBadRequest, "invalid_value", err.Error())
	}
	if c.streams() {
		return c.streamScript(c.reply.ChatStream(c.showUsage), c.chatError())
	}
	return c.plainScript(c.reply.ChatResult())
}

// responsesScript answers POST /responses. A stored answer to a previous one
// repeats its prompt too, which shows that the provider really had it.
func (p *Provider) responsesScript(c *call) script {
	previous, store := c.Has("previous_response_id"), string(c.Members["store"]) != "false"
	if c.api == openRouter {
		if previous || c.Has("store") && store {
			return c.fails(http.StatusBadRequest, "", "this API keeps nothing: store and previous_response_id")
		}
		store = false
	}
	if previous {
		id := strings.Trim(string(c.Members["previous_response_id"]), `"`)
		earlier, ok := p.stored.get(id)
		if !ok {
			return unknownPrevious(id)
		}
		c.prompt = earlier.prompt + " / " + c.prompt
	}
	compacts := triggered(c)
	if err := c.prepare(); err != nil {
		return c.fails(http.StatusBadRequest, "invalid_value", err.Error())
	}
	c.reply.Settings = c.Settings().With("store", store)
	if compacts {
		return triggeredScript(c)
	}
	if store {
		kept := stored{c.prompt, c.reply.FinalResponse(), inputItems(c)}
		if c.mode.course == courseFailed {
			kept.response = c.failedResponse()
		}
		p.stored.put("resp_"+c.reply.ID, kept)
	}
	if c.streams() {
		return c.streamScript(c.reply.ResponseStream(), c.responseError())
	}
	if c.mode.course == courseFailed {
		return c.plainScript(c.failedResponse())
	}
	return c.plainScript(c.reply.FinalResponse())
}
