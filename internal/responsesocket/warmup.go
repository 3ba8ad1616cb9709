package responsesocket

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// maxWarmUps is how many a key may have in a minute: guardrails judge each, and no rate counts it.
const maxWarmUps = 30

func tooManyWarmUps() error {
	e := apierror.New(apierror.RateLimitExceeded, "the key has sent %d events with generate: false in a minute; send the next with its input", maxWarmUps)
	e.RetryAfter = time.Minute
	return e
}

// warmUp answers an event with generate: false. Nothing is generated: its input belongs to the next
// response, which names the id.
func (a *answer) warmUp(model string, now time.Time) {
	a.id = "resp_" + strings.ToLower(rand.Text())
	event := func(sequence int64, kind, status, usage string) []byte {
		r := openai.AppendText([]byte(`{"object":"response"`), "id", a.id)
		r = openai.AppendInt(r, "created_at", now.Unix())
		r = openai.AppendText(r, "status", status)
		r = openai.AppendText(r, "model", model)
		r = append(r, `,"error":null,"incomplete_details":null,"instructions":null,"metadata":{},"output":[],`+
			`"parallel_tool_calls":true,"temperature":null,"tool_choice":"auto","tools":[],"top_p":null`...)
		r = openai.AppendValue(r, "usage", []byte(usage))
		e := openai.AppendInt(openai.AppendText([]byte{'{'}, "type", kind), "sequence_number", sequence)
		return append(openai.AppendValue(e, "response", append(r, '}')), '}')
	}
	const none = `{"input_tokens":0,"input_tokens_details":{"cached_tokens":0},` +
		`"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}`
	_ = a.send( // else the client has left
		event(0, "response.created", "in_progress", "null"),
		event(1, "response.completed", "completed", none),
	)
}
