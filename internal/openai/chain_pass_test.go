package openai_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func passWire(b *testing.B, dst []byte, guard *guardrail.Stream, s openai.Stream, wire []wireEvent) []byte {
	pass := func(events []*openai.Event, v *guardrail.Verdict, err error) {
		if v != nil || err != nil {
			b.Fatal(v, err)
		}
		for _, e := range events {
			dst = s.Data(dst[:0], e)
		}
	}
	var events openai.Events
	for _, w := range wire {
		e := events.Next(w.name, w.data)
		if guard == nil {
			dst = s.Data(dst[:0], e)
		} else {
			pass(guard.Push(e))
		}
		e.Release()
	}
	if guard != nil {
		events, v := guard.Close()
		pass(events, v, nil)
	}
	dst, err := s.Close(dst[:0], nil)
	if err != nil {
		b.Fatal(err)
	}
	return dst
}
