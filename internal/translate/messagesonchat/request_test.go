package messagesonchat_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

func TestAnAnswerDoesNotHoldTheRequest(t *testing.T) {
	translatetest.MustNotHold(t, plainRequest, func(b *jsonscan.Body) (*messagesonchat.Original, error) {
		_, original, err := messagesonchat.Request(b, true, messagesonchat.Options{})
		return original, err
	})
}
