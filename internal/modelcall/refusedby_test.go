package modelcall

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// The option of a cap is that of the block which has it: the caps of a target are the least of
// several blocks.
func TestARefusalNamesItsOption(t *testing.T) {
	g := charge{
		record: &activity.Record{Key: "dev"}, key: &policy.KeyLimits{Caps: policy.Caps{Tools: 3}},
		named: []*policy.ModelLimits{{Subject: limits.Subject{Name: policy.ModelSubject("openai/*")}, Caps: policy.Caps{Output: 4096}}},
	}
	own := []*policy.ModelLimits{{Subject: limits.Subject{Name: policy.ModelSubject("fast")}, Caps: policy.Caps{Messages: 2}}}
	check := func(asked params.RequestedLimits) error {
		g.requested = asked
		target := &target{op: wire.Chat, own: own, allowed: allowed{caps: g.capsOf(g.named, own)}}
		return g.check(target, func() int { return int(asked.Choices) }, "messages")
	}
	for want, err := range map[string]error{
		"key dev: max_tools 3":                   check(params.RequestedLimits{Choices: 4}),
		"model fast: max_messages 2":             check(params.RequestedLimits{Messages: 3}),
		"model openai/*: max_output_tokens 4096": capOutputRefusal(&g, own),
		"max_body (default)":                     g.checkSize(&target{}, 33<<20),
	} {
		if e := apierror.From(err); e.RefusedBy != want {
			t.Errorf("%q instead of %q (%v)", e.RefusedBy, want, e)
		}
	}
	outcome := request.Outcome{Record: new(activity.Record)}
	if outcome.Fail(&apierror.Error{Code: apierror.RateLimitExceeded, ForRecord: apierror.ForRecord{RefusedBy: "key dev: rate 10/min"}}); outcome.Record.RefusedBy != "key dev: rate 10/min" {
		t.Errorf("the record has %q", outcome.Record.RefusedBy)
	}
}

func capOutputRefusal(g *charge, own []*policy.ModelLimits) error {
	target := &target{own: own, allowed: allowed{caps: g.capsOf(g.named, own)}}
	return g.capRefusal(target, policy.CapOutput, apierror.New(apierror.InvalidValue, "no"))
}
