package policy

import (
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// RefusedBy names an option as the Caddyfile has it, after the block of its subject: "key dev: rate
// 10/min". Some options have no value.
func RefusedBy(subject, option, value string) string {
	return strings.TrimSuffix(strings.Replace(subject, ":", " ", 1)+": "+option+" "+value, " ")
}

// RefusedByGuardrail names a guardrail as the option that refused.
func RefusedByGuardrail(name string) string { return "guardrail " + name }

// Cap is an option that sets a cap.
type Cap struct {
	name string
	of   func(Caps) int64 // 0: not set
}

// The options of caps.
var (
	CapBody     = Cap{"max_body", func(c Caps) int64 { return c.Body }}
	CapMessages = Cap{"max_messages", func(c Caps) int64 { return int64(c.Messages) }}
	CapTools    = Cap{"max_tools", func(c Caps) int64 { return int64(c.Tools) }}
	CapOutput   = Cap{"max_output_tokens", func(c Caps) int64 { return c.Output }}
)

// CapRefusal adds the owner of the cap to a refusal: the key, which is named, or one of the models. Least
// has the caps that hold, each the lowest of several blocks. The default of max_body has no owner.
func CapRefusal(e *apierror.Error, option Cap, least Caps, name string, key *KeyLimits, models ...[]*ModelLimits) *apierror.Error {
	most := option.of(least)
	if most == 0 {
		e.RefusedBy = option.name + " (default)"
		return e
	}
	value := strconv.FormatInt(most, 10)
	if option.of(key.Caps) == most {
		e.RefusedBy = RefusedBy(KeySubject(name), option.name, value)
		return e
	}
	for _, list := range models {
		for _, m := range list {
			if option.of(m.Caps) == most {
				e.RefusedBy = RefusedBy(m.Subject.Name, option.name, value)
				return e
			}
		}
	}
	return e
}

// TooLarge adds to the refusal of a body, while it is read, whose limit it is. Without one of the key
// that is the largest of any model, or the default. Other errors stay.
func TooLarge(err error, name string, key *KeyLimits) error {
	e := apierror.From(err)
	if e.Code != apierror.RequestTooLarge || e.RefusedBy != "" {
		return err
	}
	if e.RefusedBy = "max_body (default, or the largest of a model)"; key.Caps.Body > 0 {
		e.RefusedBy = RefusedBy(KeySubject(name), CapBody.name, strconv.FormatInt(key.Caps.Body, 10))
	}
	return e
}
