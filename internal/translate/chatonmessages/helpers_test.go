package chatonmessages_test

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
)

// translation is a translated request.
type translation struct {
	req      params.Request
	original *chatonmessages.Original
	messages []byte
}

// forModel are the options of a translation for a model.
func forModel(name string) chatonmessages.Options {
	return chatonmessages.Options{UpstreamModel: name, Origin: "fake/" + name, Rules: catalog.CapabilitiesOf(name)}
}

const plainModel = "claude-haiku-4-5"

// translateBody translates a body as the gateway does.
func translateBody(body string, opt chatonmessages.Options) (r translation, err error) {
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		return r, err
	}
	if r.req, err = params.ParseChat(&b); err != nil {
		return r, err
	}
	r.messages, r.original, err = chatonmessages.Request(conversation.OfChat(&b), r.req.Stream, opt)
	return r, err
}

func translated(t testing.TB, body string, opt chatonmessages.Options) translation {
	t.Helper()
	r, err := translateBody(body, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const plainRequest = `{"model":"fake/echo","messages":[{"role":"user","content":"hi"}]}`

func plainOriginal(t testing.TB) *chatonmessages.Original {
	return translated(t, plainRequest, forModel(plainModel)).original
}

func withField(field string) string {
	return `{"model":"m","messages":[{"role":"user","content":"a"}],` + field + `}`
}

// result answers a whole call as the gateway does.
func result(original *chatonmessages.Original, answer string, second bool) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonmessages.Result([]byte(answer), original, translatetest.NewCall())
	return translatetest.FamilyResult(second, chat, sum, err)
}

func newStream(original *chatonmessages.Original, second, usage bool) *chatonmessages.Stream {
	return chatonmessages.NewStream(original, translatetest.NewCall(), translatetest.Family(second, usage))
}

func stream(original *chatonmessages.Original, wire string, second, usage bool) (string, error) {
	return translatetest.Drive(newStream(original, second, usage), strings.NewReader(wire))
}

// event is one event of a provider; rest are its members.
func event(typ, rest string) string {
	if rest != "" {
		rest = "," + rest
	}
	return "event: " + typ + "\ndata: {\"type\":\"" + typ + `"` + rest + "}\n\n"
}

func blockStart(index, block string) string {
	return event("content_block_start", `"index":`+index+`,"content_block":`+block)
}

func blockDelta(index, delta string) string {
	return event("content_block_delta", `"index":`+index+`,"delta":`+delta)
}

func blockStop(index string) string { return event("content_block_stop", `"index":`+index) }

func textDelta(piece string) string {
	return blockDelta("0", `{"type":"text_delta","text":"`+piece+`"}`)
}

var (
	started = event("message_start", `"message":{"id":"msg_9","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}`)
	ended   = event("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}`) + event("message_stop", "")
)
