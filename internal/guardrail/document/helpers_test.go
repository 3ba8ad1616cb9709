package document_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

func must(d *detect.Detector, err error) *detect.Detector {
	if err != nil {
		panic(err)
	}
	return d
}

// denying returns rules that deny a word, and card numbers.
func denying(word string) []detect.Rule {
	return []detect.Rule{{Detector: must(detect.Words([]string{word})), Deny: true}, {Detector: must(detect.Card()), Deny: true}}
}

// judge reads a body and returns the edited one, "" if nothing was changed.
func judge(t testing.TB, rules []detect.Rule, body string, answer bool) (string, error) {
	data := []byte(body)
	if answer {
		data = document.WithoutLogprobs(data)
	}
	var r document.Reader
	r.Reset(detect.NewMatcher(rules, 0), data, answer)
	err := r.Read(t.Context())
	return string(r.Apply()), err
}

// texts returns the strings of a body that are read.
func texts(t testing.TB, body string, answer, event bool) (list []string) {
	w := document.Walker{Data: []byte(body), Answer: answer, Event: event}
	w.Visit = func(at document.Span) { list = append(list, document.TextOf(w.Data[at.Start:at.End])) }
	w.Walk()
	return list
}

var errGone = errors.New("the caller has gone")

// doneContext is a context that has ended.
type doneContext struct {
	context.Context
	done chan struct{}
}

func (c doneContext) Done() <-chan struct{} { return c.done }
func (c doneContext) Err() error            { return errGone }
