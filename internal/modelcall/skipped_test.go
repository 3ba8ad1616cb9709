package modelcall

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// skippedText is what a row says of targets that were not asked.
func skippedText(r *activity.Record) string {
	var all []string
	for _, s := range r.Skipped {
		all = append(all, strings.TrimSuffix(s.Target+" "+s.Code+" ("+s.RefusedBy+")", " ()"))
	}
	return strings.Join(all, ", ")
}

// holding gives the models of a provider limits of their own.
func holding(n int, l policy.ModelLimits) func(*rig) {
	return func(r *rig) {
		l.Pattern, l.Subject.Name = targetNames[n]+"/*", "model:"+targetNames[n]+"/*"
		r.Limits.Models = append(r.Limits.Models, l)
	}
}

// with is a body of chat for the fleet, with further members.
func with(members string) string {
	return strings.Replace(families[0].body, "{", "{"+members, 1)
}

// A row says which of its call's targets were not asked, and why: each row is of one more call.
func TestARowNamesTheTargetsThatWereNotAsked(t *testing.T) {
	oneAMinute := policy.ModelLimits{Subject: limits.Subject{Rates: []limits.Rate{{Unit: limits.Requests, Limit: 1, Window: time.Minute}}}}
	responsesOnly := families[3]
	for name, c := range map[string]struct {
		of         family
		behaviours []string
		body       string
		change     []func(*rig)
		want       []string
	}{
		"one that cools":                   {families[0], []string{"err-401", "echo"}, with(""), nil, []string{"", "first/err-401 cooling"}},
		"one that cools and is asked last": {families[0], []string{"err-401", "err-403"}, with(""), nil, []string{"", ""}},
		"one that cools, behind another":   {families[0], []string{"err-500", "err-401", "echo"}, with(""), nil, []string{"", "second/err-401 cooling"}},
		"one with a lower cap": {families[0], []string{"echo", "echo"}, with(""), []func(*rig){holding(0, policy.ModelLimits{Caps: policy.Caps{Output: 10}})},
			[]string{"first/echo invalid_value (model first/*: max_output_tokens 10)"}},
		"one over its rate": {families[0], []string{"echo", "echo"}, with(""), []func(*rig){holding(0, oneAMinute)},
			[]string{"", "first/echo rate_limit_exceeded (model first/*: rate 1/min)"}},
		"all over their rates": {families[0], []string{"echo", "echo"}, with(""), []func(*rig){holding(0, oneAMinute), holding(1, oneAMinute)}, []string{
			"", "first/echo rate_limit_exceeded (model first/*: rate 1/min)",
			"first/echo rate_limit_exceeded (model first/*: rate 1/min), second/echo rate_limit_exceeded (model second/*: rate 1/min)",
		}},
		"one whose API lacks a field": {responsesOnly, []string{"echo", "echo"}, with(`"n":2,`), nil, []string{"first/echo unsupported_parameter"}},
		"one that the request leaves out": {families[0], []string{"echo", "echo"}, with(`"provider":{"only":["second"]},`), nil,
			[]string{"first/echo excluded_by_request (request: provider.only)"}},
		"all that the request leaves out": {families[0], []string{"echo"}, with(`"provider":{"only":["second"]},`), nil,
			[]string{"first/echo excluded_by_request (request: provider.only)"}},
		"a fallback that is forbidden": {families[0], []string{"err-401", "echo", "echo"}, with(`"provider":{"allow_fallbacks":false},`), nil,
			[]string{"second/echo no_fallbacks, third/echo no_fallbacks", "first/err-401 cooling"}},
		"a fallback that is forbidden and not needed": {families[0], []string{"echo", "echo"}, with(`"provider":{"allow_fallbacks":false},`), nil, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, c.of, c.behaviours, c.change...)
				for i, want := range c.want {
					w, refusal := f.send(t, c.body)
					row := f.rows(t)[0]
					if got := skippedText(&row); got != want {
						t.Errorf("call %d: skipped %q, want %q; %v, attempted %+v\n%s", i+1, got, want, refusal, row.Attempted, w.Body)
					}
				}
			})
		})
	}
}

// What nobody can be asked for after the longest time is left, and said.
func TestARowNamesTheTargetsForWhichNoTimeWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, families[0], []string{"hang", "hang", "echo"}, func(r *rig) { r.Timeouts.Header = time.Hour })
		for i := range 2 {
			f.Models.(aliasModels).groups[i][0].Provider.Timeouts.Whole = 6 * time.Minute
		}
		f.ask(t, false)
		if got := skippedText(&f.rows(t)[0]); got != "third/echo no_more_attempts" {
			t.Errorf("skipped %q", got)
		}
	})
}

// What the configuration does not let an alias call is in its row, most of all if nothing is left.
func TestARowNamesTheTargetsThatCannotBeCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, families[0], []string{"echo"})
		gone := []activity.Skipped{{Target: "gone/m", Code: apierror.ProviderLeftOut, RefusedBy: "provider gone: optional"}}
		groups := f.Models.(aliasModels).groups
		for _, c := range []struct {
			groups [][]Candidate
			body   string
		}{{groups, with("")}, {groups, with(`"models":["fast"],`)}, {nil, with("")}} {
			f.Models = aliasModels{c.groups, gone}
			f.send(t, c.body)
			if row := f.rows(t)[0]; !slices.Equal(row.Skipped, gone) {
				t.Errorf("%.40s: skipped %+v", c.body, row.Skipped)
			}
		}
	})
}

// Each of several models that a request lists may be one that is not known yet, or lacks the API.
func TestARowNamesTheListedModelsThatWereNotAsked(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody))
	knowing(known{"acme/m": r.models.provider, "soon/m": nil})(r)
	for _, body := range []string{chatWith("acme/m", `"models":["soon/m"],`), chatWith("soon/m", `"models":["acme/m"],`)} {
		if _, refusal := r.serve(t, wire.Chat, body); refusal != nil {
			t.Error(refusal)
		}
		if got := skippedText(&r.rows(t)[0]); got != "soon/m no_provider_available" {
			t.Errorf("%s: skipped %q", body, got)
		}
	}
}

// The refusal of a call with one target says it all.
func TestARowOfACallWithOneTargetHasNoList(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody), func(r *rig) {
		r.Limits.Models = []policy.ModelLimits{{Pattern: "acme/*", Subject: limits.Subject{Name: "model:acme/*"}, Caps: policy.Caps{Output: 10}}}
	})
	_, refusal := r.serve(t, wire.Chat, hello)
	wantRefusal(t, refusal, apierror.InvalidValue, "at most 10")
	if row := r.rows(t)[0]; row.Skipped != nil {
		t.Errorf("skipped %+v", row.Skipped)
	}
}

// A call that asks its first target notes nothing.
func TestACallThatSkipsNothingAllocatesNothingForIt(t *testing.T) {
	r := routed{targets: []*target{{id: "a"}, {id: "b", rank: 1}}}
	n := testing.AllocsPerRun(100, func() {
		if err := r.keep(func(*target) error { return nil }); err != nil {
			t.Fatal(err)
		}
		r.asks(r.targets[0], r.targets[1:])
	})
	if n != 0 || r.skipped != nil {
		t.Errorf("%v allocations, skipped %+v", n, r.skipped)
	}
}
