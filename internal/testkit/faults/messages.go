package faults

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/anthropicrules"
)

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

// messagesBody reads the body of a call of the Messages API, or of its count_tokens.
func messagesBody(answer func(*call) script, count bool) reader {
	return func(r *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
		if err := anthropicrules.Check(r.Header, body, count); err != nil {
			return nil, nil, err
		}
		request, err := answers.ParseMessages(body, count)
		return request, answer, err
	}
}

// messagesScript answers POST /messages.
func messagesScript(c *call) script {
	if err := c.prepare(); err != nil {
		return c.fails(http.StatusBadRequest, "", err.Error())
	}
	if c.streams() {
		status := http.StatusInternalServerError
		if c.mode.course == courseOverloaded {
			status = statusOverloaded
		}
		return c.streamScript(c.reply.MessageStream(), messageError(c, status))
	}
	return c.plainScript(c.reply.Message())
}

// countScript answers POST /messages/count_tokens.
func countScript(c *call) script { return c.plainScript(c.TokenCount()) }

// inputScript answers POST /responses/input_tokens.
func inputScript(c *call) script {
	return c.plainScript(c.TokenCount().With("object", "response.input_tokens"))
}

// messageError is the error event in a stream, which needs no status of its own.
func messageError(c *call, status int) event {
	return event{Name: "error", Data: errorBody(anthropic, c.id, status, "", c.complaint())}
}

// spendLimit is the one code that errors of the Messages API have.
const spendLimit = "enforced_spend_limit_reached"

// messagesError is Anthropic's body of an error. Where OpenAI has a code it has a
// wording, which clients look for.
func messagesError(id string, status int, code, message string) object {
	if code == "context_length_exceeded" {
		message = "prompt is too long: 250000 tokens > 200000 maximum. " + message
	}
	o := answers.MessagesError(status, message, id)
	if code != spendLimit {
		return o
	}
	return member(o, "error", func(e object) object {
		return e.With("details", object{}.With("error_code", code))
	})
}

// isMessage reports whether an object is an answer or an event of the Messages API.
func isMessage(o object) bool {
	kind, _ := o.Get("type").(string)
	return kind == "message" || kind == "message_start" || kind == "message_delta"
}

// message edits the message in an object, if there is one: itself, or that of
// message_start.
func message(o object, edit func(object) object) object {
	if o.Get("type") == "message" {
		return edit(o)
	}
	return member(o, "message", edit)
}

func nullMessage(o object) object {
	o = message(o, func(m object) object { return nulls(m, "container", "stop_details") })
	o = message(o, func(m object) object { return member(m, "usage", nullUsage) })
	o = member(o, "delta", func(d object) object {
		if d.Has("stop_reason") {
			d = nulls(d, "container", "stop_details", "stop_sequence")
		}
		return d
	})
	return member(o, "usage", nullUsage)
}

func nullUsage(u object) object {
	return nulls(u.Without("service_tier"), "service_tier", "server_tool_use", "inference_geo", "output_tokens_details")
}

func sloppyMessage(o object) object {
	return message(o, func(m object) object { return m.Without("id", "role", "stop_sequence", "stop_reason") })
}

func noMessageUsage(o object) object {
	return message(o, func(m object) object { return m.Without("usage") }).Without("usage")
}

// messageUsageEach has a message_delta with the usage so far before every piece of text.
func messageUsageEach(events []event) (out []event) {
	said := 0
	for _, e := range events {
		if e.Text {
			said++
			data := object{}.With("type", "message_delta").With("delta", object{}.With("stop_reason", nil).With("stop_sequence", nil))
			out = append(out, event{Name: "message_delta", Data: data.With("usage", object{}.With("output_tokens", said))})
		}
		out = append(out, e)
	}
	return out
}
