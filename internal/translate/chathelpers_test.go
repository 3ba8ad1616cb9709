package translate_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	parse "github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// asked is a translated chat request.
type asked struct {
	*translate.Asked
	responses []byte
}

// chatRequest translates a body as a handler does.
func chatRequest(body string) (asked, parse.Request, error) {
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		return asked{}, parse.Request{}, err
	}
	req, err := parse.ParseChat(&b)
	if err != nil {
		return asked{}, req, err
	}
	responses, a, err := translate.ChatRequest(b.Data(), b.Members(), req, "echo")
	return asked{a, responses}, req, err
}

func newAsked(t testing.TB, body string) (asked, parse.Request) {
	t.Helper()
	a, req, err := chatRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	return a, req
}

const plainChat = `{"model":"fake/echo","messages":[{"role":"user","content":"hi"}]}`

func orCall() openrouter.Call {
	return openrouter.Call{Call: newCall(), Cost: func(openai.Usage) []byte { return []byte("0.5") }}
}

// chatResult answers a whole chat call as a handler does.
func chatResult(a *translate.Asked, answer string, second bool) ([]byte, openai.Summary, error) {
	chat, sum, err := translate.ChatResult([]byte(answer), a, newCall())
	if err != nil {
		return nil, sum, err
	}
	if second {
		return openrouter.ChatResult(nil, chat, orCall())
	}
	return openai.ChatResult(nil, chat, newCall())
}

func newChatStream(a *translate.Asked, second, usage bool) *translate.ChatStream {
	call := newCall()
	call.IncludeUsage = usage
	family := openai.Stream(openai.NewChatStream(call))
	if second {
		family = openrouter.NewChatStream(orCall())
	}
	return translate.NewChatStream(a, newCall(), family)
}

func chatStream(a *translate.Asked, wire string, second, usage bool) (string, error) {
	return drive(newChatStream(a, second, usage), strings.NewReader(wire))
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

func topLevel(t *testing.T, body string) (keys []string) {
	t.Helper()
	members, err := jsonscan.Strict([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		keys = append(keys, string(m.Key([]byte(body))))
	}
	return keys
}
