package chatongemini

import (
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// end ends an answer that is complete, and returns io.EOF, or says why it is none.
func (r *reader) end() error {
	word := gemini.FinishReason(r.finish.reason)
	if r.finish.reason == gemini.UnknownCall && len(r.ids) > 0 { // the caller tells the model which tools there are
		word = ""
	}
	switch {
	case word == gemini.Broken || r.finish.reason == "STOP" && r.parts == 0:
		return &completion.Reported{Body: errorBody(http.StatusInternalServerError, "server_error", r.broken())}
	case word == "" && len(r.ids) > 0:
		word = r.original.functions.Finish()
	case word == "":
		word = "stop"
	}
	r.endThought()
	refused := word == "content_filter" && len(r.finish.message) > 0 && !r.spoke
	if r.begin(!refused); refused {
		r.to.Refusal(r.finish.message)
	}
	r.cite()
	e := &r.ending
	e.Finish, e.Tier = word, r.usage.tier()
	e.Usage, e.HasUsage = r.usage.all()
	return io.EOF
}

// broken says why an answer is none. Google names the tool that a model called and did not have;
// its other messages repeat what the model wrote.
func (r *reader) broken() string {
	why := "the model ended its answer with " + r.finish.reason
	if r.finish.reason == gemini.UnknownCall && len(r.finish.message) > 0 {
		why += ": " + string(jsonscan.AppendText(nil, r.finish.message))
	}
	return why
}

// nextHop prepares for the answer to another request.
func (r *reader) nextHop() {
	total, some := r.usage.all()
	r.usage = usage{total: total, some: some}
	r.finish, r.before = finish{}, before{}
}
