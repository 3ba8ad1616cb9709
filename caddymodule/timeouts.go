package caddymodule

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

var errNegative = errors.New("a negative duration")

// option is one duration of a block, and what it sets unless it is 0.
type option struct {
	name  string
	value caddy.Duration
	dst   *time.Duration
}

func setDurations(options ...option) error {
	for _, o := range options {
		if o.value < 0 {
			return fmt.Errorf("timeouts: %s: %w", o.name, errNegative)
		}
		if o.value > 0 {
			*o.dst = time.Duration(o.value)
		}
	}
	return nil
}

// resolve fills in the defaults.
func (t Timeouts) resolve() (modelcall.Timeouts, error) {
	out := modelcall.DefaultTimeouts
	return out, setDurations(
		option{"body", t.Body, &out.Body},
		option{"header", t.Header, &out.Header},
		option{"first_byte", t.FirstByte, &out.FirstByte},
		option{"idle", t.Idle, &out.Idle},
		option{"call", t.Call, &out.Call},
		option{"commit_after", t.CommitAfter, &out.Commit},
		option{"write", t.Write, &out.Write},
		option{"heartbeat", t.Heartbeat, &out.Heartbeat},
	)
}

func (t ProviderTimeouts) resolve() (provider.Timeouts, error) {
	out, err := t.AnswerTimeouts.resolve()
	return out, errors.Join(err, setDurations(option{"connect", t.Connect, &out.Connect}))
}

func (t AnswerTimeouts) resolve() (out provider.Timeouts, err error) {
	err = setDurations(
		option{"first_byte", t.FirstByte, &out.FirstByte},
		option{"whole", t.Whole, &out.Whole},
		option{"idle", t.Idle, &out.Idle},
		option{"call", t.Call, &out.Call},
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
