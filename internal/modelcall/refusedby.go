package modelcall

import (
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// refusedBy names an option as the Caddyfile has it, after the block of its subject: "key dev: rate
// 10/min". Some options have no value.
func refusedBy(subject, option, value string) string {
	return strings.TrimSuffix(strings.Replace(subject, ":", " ", 1)+": "+option+" "+value, " ")
}

func refusedByGuardrail(name string) string { return "guardrail " + name }

// capOption is an option that sets a cap.
type capOption struct {
	name string
	of   func(Caps) int64 // 0: not set
}

// The options of caps.
var (
	capBody     = capOption{"max_body", func(c Caps) int64 { return c.Body }}
	capMessages = capOption{"max_messages", func(c Caps) int64 { return int64(c.Messages) }}
	capTools    = capOption{"max_tools", func(c Caps) int64 { return int64(c.Tools) }}
	capOutput   = capOption{"max_output_tokens", func(c Caps) int64 { return c.Output }}
)

// capRefusal adds to the refusal by a cap of a target whose cap it is: the caps of the target are the
// least of several blocks. The default of max_body has no owner.
func (g *charge) capRefusal(t *target, option capOption, e *apierror.Error) *apierror.Error {
	most := option.of(t.caps)
	if most == 0 {
		e.RefusedBy = option.name + " (default)"
		return e
	}
	value := strconv.FormatInt(most, 10)
	if g.key != nil && option.of(g.key.Caps) == most {
		e.RefusedBy = refusedBy(KeySubject(g.record.Key), option.name, value)
		return e
	}
	for _, list := range [...][]*ModelLimits{g.named, t.own} {
		for _, m := range list {
			if option.of(m.Caps) == most {
				e.RefusedBy = refusedBy(m.Subject.Name, option.name, value)
				return e
			}
		}
	}
	return e
}

// tooLarge adds to the refusal of a body, while it is read, whose limit it is. Without one of the key
// that is the largest of any model, or the default.
func (g *charge) tooLarge(err error) error {
	e := apierror.From(err)
	if e.Code != apierror.RequestTooLarge || e.RefusedBy != "" {
		return err
	}
	if e.RefusedBy = "max_body (default, or the largest of a model)"; g.key != nil && g.key.Caps.Body > 0 {
		e.RefusedBy = refusedBy(KeySubject(g.record.Key), capBody.name, strconv.FormatInt(g.key.Caps.Body, 10))
	}
	return e
}
