package messagesonchat_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

const messageID = "msg_1"

// translateBody translates a body as the gateway does.
func translateBody(body string, opt messagesonchat.Options) ([]byte, *messagesonchat.Original, error) {
	var b jsonscan.Body
	if err := b.Parse([]byte(body)); err != nil {
		return nil, nil, err
	}
	i, ok := b.Find("stream")
	if opt.UpstreamModel == "" {
		opt.UpstreamModel = "echo"
	}
	return messagesonchat.Request(&b, ok && string(b.Value(i)) == "true", opt)
}

func originalOf(t testing.TB, body string) *messagesonchat.Original {
	t.Helper()
	_, original, err := translateBody(body, messagesonchat.Options{InputTokens: 11, SignedReasoning: true})
	if err != nil {
		t.Fatal(err)
	}
	return original
}

const (
	plainRequest    = `{"model":"fake/echo","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	thinkingRequest = `{"model":"fake/echo","max_tokens":9,"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"hi"}]}`
)

func stream(original *messagesonchat.Original, wire string) (string, error) {
	return translatetest.Drive(messagesonchat.NewStream(original, translatetest.NewCall(), messageID), strings.NewReader(wire))
}
