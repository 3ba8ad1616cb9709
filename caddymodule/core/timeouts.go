package core

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Timeouts are those of a model call; 0 takes the default.
type Timeouts struct {
	// Body is how long a request's body may take to arrive. Default: 2m.
	Body caddy.Duration `json:"body,omitempty"`
	// Header is how long a provider may take to begin its answer. Default: 10m.
	Header caddy.Duration `json:"header,omitempty"`
	// FirstByte is how long a provider may take to begin its answer to a streamed request. Default:
	// 30s if the call can go to another target, header if not.
	FirstByte caddy.Duration `json:"first_byte,omitempty"`
	// Idle is how long a provider may be silent within its answer. Default: 5m.
	Idle caddy.Duration `json:"idle,omitempty"`
	// Call is how long a request to a provider and its answer may take together. Default: no limit.
	Call caddy.Duration `json:"call,omitempty"`
	// CommitAfter is how long a stream's start may be silent before the client gets status 200 and
	// comments that keep the connection open. Default: 20s.
	CommitAfter caddy.Duration `json:"commit_after,omitempty"`
	// Write is how long a client may take nothing of its answer before it counts as gone. Default:
	// 5m.
	Write caddy.Duration `json:"write,omitempty"`
	// Heartbeat is the longest silence within a stream to the client. Comments are sent to fill it.
	// Default: 15s.
	Heartbeat caddy.Duration `json:"heartbeat,omitempty"`
}

// ProviderTimeouts are those of an attempt of a call at a provider; 0 takes the default.
type ProviderTimeouts struct {
	// Connect is how long opening a connection may take, and then the TLS handshake. Default: 10s.
	Connect caddy.Duration `json:"connect,omitempty"`

	AnswerTimeouts
}

// AnswerTimeouts are those of a provider's answer; 0 takes the default.
type AnswerTimeouts struct {
	// FirstByte is how long the answer to a streamed request may take to begin. Default: that of
	// the gateway.
	FirstByte caddy.Duration `json:"first_byte,omitempty"`

	// Whole is how long an answer in one piece may take to begin, which most providers do when it
	// is complete. Default: 75s if the call can go to another target, header of the gateway if not.
	Whole caddy.Duration `json:"whole,omitempty"`

	// Idle is how long the provider may be silent within its answer. Default: that of the gateway.
	Idle caddy.Duration `json:"idle,omitempty"`

	// Call is how long the request and its answer may take together. Default: that of the gateway.
	Call caddy.Duration `json:"call,omitempty"`
}

// ModelTimeouts are those of some models of a provider.
type ModelTimeouts struct {
	// Models are patterns over the provider's names of its models. Required.
	Models []string `json:"models"`

	AnswerTimeouts
}

var errNegative = errors.New("a negative duration")

// Duration is one duration of a block, and what it sets unless it is 0.
type Duration struct {
	Name  string
	Value caddy.Duration
	Dst   *time.Duration
}

// SetDurations sets those that are given. A negative one is an error.
func SetDurations(options ...Duration) error {
	for _, o := range options {
		if o.Value < 0 {
			return fmt.Errorf("timeouts: %s: %w", o.Name, errNegative)
		}
		if o.Value > 0 {
			*o.Dst = time.Duration(o.Value)
		}
	}
	return nil
}

// resolve fills in the defaults.
func (t Timeouts) resolve() (modelcall.Timeouts, error) {
	out := modelcall.DefaultTimeouts
	return out, SetDurations(
		Duration{"body", t.Body, &out.Body},
		Duration{"header", t.Header, &out.Header},
		Duration{"first_byte", t.FirstByte, &out.FirstByte},
		Duration{"idle", t.Idle, &out.Idle},
		Duration{"call", t.Call, &out.Call},
		Duration{"commit_after", t.CommitAfter, &out.Commit},
		Duration{"write", t.Write, &out.Write},
		Duration{"heartbeat", t.Heartbeat, &out.Heartbeat},
	)
}

func (t ProviderTimeouts) resolve() (provider.Timeouts, error) {
	out, err := t.AnswerTimeouts.resolve()
	return out, errors.Join(err, SetDurations(Duration{"connect", t.Connect, &out.Connect}))
}

func (t AnswerTimeouts) resolve() (out provider.Timeouts, err error) {
	err = SetDurations(
		Duration{"first_byte", t.FirstByte, &out.FirstByte},
		Duration{"whole", t.Whole, &out.Whole},
		Duration{"idle", t.Idle, &out.Idle},
		Duration{"call", t.Call, &out.Call},
	)
	return out, err
}

func (p *Provider) modelTimeouts() (out []provider.ModelTimeouts, err error) {
	for _, m := range p.ModelTimeouts {
		made := provider.ModelTimeouts{Models: m.Models}
		if made.Timeouts, err = m.resolve(); err != nil {
			return nil, err
		}
		if len(m.Models) == 0 {
			return nil, errors.New("timeouts: no models are given")
		}
		for _, text := range m.Models {
			if err := pattern.Valid(text); err != nil {
				return nil, fmt.Errorf("timeouts: %w", err)
			}
		}
		out = append(out, made)
	}
	return out, nil
}
