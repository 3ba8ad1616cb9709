package provider

import (
	"cmp"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// Timeouts bound an attempt of a call at a provider. 0 leaves the gateway's own.
type Timeouts struct {
	Connect   time.Duration // until a connection is open; the provider's transport applies it
	FirstByte time.Duration // until the answer to a streamed request begins
	Whole     time.Duration // until any other answer begins
	Idle      time.Duration // between two reads of an answer
	Call      time.Duration // from the request to the end of the answer
}

// ModelTimeouts are those of some models.
type ModelTimeouts struct {
	Models pattern.List // over the provider's own names
	Timeouts
}

// TimeoutsOf returns the timeouts of a model, by the provider's own name: each that of the first
// ModelTimeouts that match and have it, or the provider's.
func (p *Provider) TimeoutsOf(model string) Timeouts {
	var t Timeouts
	for i := range p.modelTimeouts {
		if p.modelTimeouts[i].Models.Match(model) {
			t = t.or(p.modelTimeouts[i].Timeouts)
		}
	}
	return t.or(p.Timeouts)
}

func (t Timeouts) or(other Timeouts) Timeouts {
	return Timeouts{
		Connect:   cmp.Or(t.Connect, other.Connect),
		FirstByte: cmp.Or(t.FirstByte, other.FirstByte),
		Whole:     cmp.Or(t.Whole, other.Whole),
		Idle:      cmp.Or(t.Idle, other.Idle),
		Call:      cmp.Or(t.Call, other.Call),
	}
}
