package chatongemini

import (
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// continued is the finishReason of an answer that goes on in another request.
const continued = "CONTINUATION"

// broken is the word for a finishReason of an answer that is none.
const broken = "error"

// finishes are the finish reasons as chat has them. What is not here is "stop". STOP is said of tool
// calls, too.
var finishes = map[string]string{
	"MAX_TOKENS": "length", continued: "length",

	"SAFETY": "content_filter", "RECITATION": "content_filter", "LANGUAGE": "content_filter",
	"BLOCKLIST": "content_filter", "PROHIBITED_CONTENT": "content_filter", "SPII": "content_filter",
	"MODEL_ARMOR": "content_filter", "ESCALATION": "content_filter", "OTHER": "content_filter",
	"IMAGE_SAFETY": "content_filter", "IMAGE_PROHIBITED_CONTENT": "content_filter",
	"IMAGE_RECITATION": "content_filter", "IMAGE_OTHER": "content_filter", "NO_IMAGE": "content_filter",

	"MALFORMED_FUNCTION_CALL": broken, "UNEXPECTED_TOOL_CALL": broken, "TOO_MANY_TOOL_CALLS": broken,
	"MALFORMED_RESPONSE": broken, "MISSING_THOUGHT_SIGNATURE": broken,
}

// end ends an answer that is complete, and returns io.EOF, or says why it is none.
func (r *reader) end() error {
	word := finishes[r.finish.reason]
	switch {
	case word == broken || r.finish.reason == "STOP" && r.parts == 0:
		return &completion.Reported{Body: errorBody(http.StatusInternalServerError, "server_error", "the model ended its answer with "+r.finish.reason)}
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

// nextHop prepares for the answer to another request.
func (r *reader) nextHop() {
	total, some := r.usage.all()
	r.usage = usage{total: total, some: some}
	r.finish, r.before = finish{}, repeated{}
}
