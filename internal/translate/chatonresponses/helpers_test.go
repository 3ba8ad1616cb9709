package chatonresponses_test

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

// translation is a translated request.
type translation struct {
	req       params.Request
	original  *chatonresponses.Original
	responses []byte
}

// translateBody translates a body as the gateway does.
func translateBody(body string, opt chatonresponses.Options) (r translation, err error) {
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		return r, err
	}
	if r.req, err = params.ParseChat(&b); err != nil {
		return r, err
	}
	opt.UpstreamModel = "echo"
	r.responses, r.original, err = chatonresponses.Request(conversation.OfChat(&b), r.req.Stream, opt)
	return r, err
}

func translated(t testing.TB, body string) translation {
	t.Helper()
	r, err := translateBody(body, chatonresponses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const plainRequest = `{"model":"fake/echo","messages":[{"role":"user","content":"hi"}]}`

func plainOriginal(t testing.TB) *chatonresponses.Original {
	return translated(t, plainRequest).original
}

// result answers a whole call as the gateway does.
func result(original *chatonresponses.Original, answer string, second bool) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonresponses.Result([]byte(answer), original, translatetest.NewCall())
	return translatetest.FamilyResult(second, chat, sum, err)
}

func newStream(original *chatonresponses.Original, second, usage bool) *chatonresponses.Stream {
	return chatonresponses.NewStream(original, translatetest.NewCall(), translatetest.Family(second, usage))
}

func stream(original *chatonresponses.Original, wire string, second, usage bool) (string, error) {
	return translatetest.Drive(newStream(original, second, usage), strings.NewReader(wire))
}

// event is one event of a provider of responses; rest are its members.
func event(typ, rest string) string {
	return "event: response." + typ + "\ndata: {\"type\":\"response." + typ + `",` + rest + "}\n\n"
}

const (
	opened    = `"response":{"id":"resp_9","object":"response","created_at":1700000000,"status":"in_progress","model":"echo","output":[]}`
	completed = `"response":{"id":"resp_9","object":"response","created_at":1700000000,"status":"completed","model":"echo","output":[],` +
		`"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}`
)

func textDelta(piece string) string {
	return event("output_text.delta", `"item_id":"msg_1","output_index":0,"content_index":0,"delta":"`+piece+`"`)
}
