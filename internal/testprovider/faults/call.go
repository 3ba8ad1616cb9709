package faults

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

// call is a request for an answer of a model.
type call struct {
	*testprovider.Request
	http   *http.Request
	api    api
	serial int64
	mode   behaviour
	prompt string // text of the last user message

	reply     *testprovider.Reply
	showUsage bool
}

// model serves an endpoint that is chosen by the body's "model".
func (p *Provider) model(a api, answer func(*call) script) http.Handler {
	return p.recorded(func(r *http.Request, body []byte) script {
		if r.Header.Get("Content-Encoding") != "" {
			return errorScript(a, http.StatusUnsupportedMediaType, "", "compressed bodies are not understood")
		}
		request, err := testprovider.ParseRequest(body)
		if err != nil {
			return errorScript(a, http.StatusBadRequest, "invalid_value", err.Error())
		}
		mode, ok := behaviourOf(request.Model)
		if !ok {
			return errorScript(a, http.StatusNotFound, "model_not_found", fmt.Sprintf("no model %q", request.Model))
		}
		if strings.HasPrefix(r.URL.Path, redirectPrefix) {
			mode = behaviours["echo"] // the end of the redirect, not a loop
		}
		c := &call{Request: request, http: r, api: a, serial: p.serial.Add(1), mode: mode, prompt: request.Prompt().Text}
		c.reply = &testprovider.Reply{ID: fmt.Sprintf("fake_%d", c.serial), Model: c.Model, Now: p.Now, Created: p.Now().Unix()}
		var s script
		if mode.answer != nil {
			s = mode.answer(c)
		} else {
			s = answer(c)
		}
		for key, value := range mode.header {
			s.header.Add(key, value)
		}
		s.header.Set("X-Request-Id", fmt.Sprintf("req_fake_%d", c.serial))
		return s
	})
}

// streams reports whether the answer is a stream.
func (c *call) streams() bool { return c.Stream || c.mode.events > 0 }

// chatScript answers POST /chat/completions.
func chatScript(c *call) script {
	if err := c.prepare(); err != nil {
		return errorScript(c.api, http.StatusBadRequest, "invalid_value", err.Error())
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
			return errorScript(c.api, http.StatusBadRequest, "", "this API keeps nothing: store and previous_response_id")
		}
		store = false
	}
	if previous {
		id := strings.Trim(string(c.Members["previous_response_id"]), `"`)
		earlier, ok := p.stored.get(id)
		if !ok {
			body := testprovider.ErrorBody("invalid_request_error", "previous_response_not_found", "previous_response_id", fmt.Sprintf("no response %q", id))
			return whole(http.StatusBadRequest, "application/json", testprovider.Encode(body))
		}
		c.prompt = earlier + " / " + c.prompt
	}
	if store {
		p.stored.put("resp_"+c.reply.ID, c.prompt)
	}
	if err := c.prepare(); err != nil {
		return errorScript(c.api, http.StatusBadRequest, "invalid_value", err.Error())
	}
	c.reply.Settings = c.Settings().With("store", store)
	if c.streams() {
		return c.streamScript(c.reply.ResponseStream(), c.responseError())
	}
	if c.mode.course == courseFailed {
		return c.plainScript(c.failedResponse())
	}
	return c.plainScript(c.reply.FinalResponse())
}
