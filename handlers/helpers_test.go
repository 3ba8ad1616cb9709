package handlers

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// What tests of endpoints share.
type (
	setup       = handlerstest.Setup
	answer      = handlerstest.Answer
	nextHandler = handlerstest.Next
)

var (
	noon, must, secretOf      = handlerstest.Noon, handlerstest.Must, handlerstest.SecretOf
	newGateway, startGateway  = handlerstest.New, handlerstest.Start
	answering, silent         = handlerstest.Answering, handlerstest.Silent
	newTestRequest, newAnswer = handlerstest.NewRequest, handlerstest.NewAnswer
	send, open, rows, rowsOf  = handlerstest.Send, handlerstest.Open, handlerstest.Rows, handlerstest.RowsOf
)

// call sends a request to the whole API.
func call(t testing.TB, g *gateway.Gateway, method, target, key, body string) *answer {
	t.Helper()
	return send(t, &Gatehouse{gateway: g}, newTestRequest(method, target, key, body))
}

// readCloser is a request's body that shows how much of it was read.
type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// limitedTo is a key under one limit of its own.
func limitedTo(key string, s limits.Subject) map[string]*policy.KeyLimits {
	s.Name = policy.KeySubject(key)
	return map[string]*policy.KeyLimits{key: {Subjects: []limits.Subject{s}}}
}
