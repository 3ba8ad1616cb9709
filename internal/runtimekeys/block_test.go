package runtimekeys_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// narrow is a block with every kind of bound.
func narrow(b *runtimekeys.Block) {
	b.Models = pattern.List{"a/*", "b/one"}
	b.Limits = limits.Subject{
		Name:        "runtime_keys",
		Rates:       []limits.Rate{{Unit: limits.Requests, Limit: 60, Window: time.Minute}},
		Budgets:     []limits.Budget{{Unit: limits.Money, Limit: 10e9, Period: limits.Daily}, {Unit: limits.Tokens, Limit: 1000, Period: limits.Daily, Soft: true}},
		Concurrency: limits.Concurrency{Limit: 5, Queue: 2, Wait: time.Second},
	}
	b.Caps = policy.Caps{Output: 100}
}

func TestNothingThatAManagerSendsExceedsTheBlock(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(narrow)
	for body, param := range map[string]string{
		`{"name":"k","scopes":["keys:manage"]}`:           "scopes",
		`{"name":"k","scopes":["activity:read"]}`:         "scopes",
		`{"name":"k","scopes":["nothing"]}`:               "scopes",
		`{"name":"k","models":["*"]}`:                     "models",
		`{"name":"k","models":["b/*"]}`:                   "models",
		`{"name":"k","models":["a/x","c/x"]}`:             "models",
		`{"name":"k","limit":10.1,"limit_reset":"daily"}`: "limit",
		`{"name":"k","budgets":["11usd/day"]}`:            "budgets",
		`{"name":"k","budgets":["5usd/day soft"]}`:        "budgets",
		`{"name":"k","budgets":["2k tokens/day soft"]}`:   "budgets",
		`{"name":"k","budgets":["nothing"]}`:              "budgets",
		`{"name":"k","limit":1,"budgets":["1usd/total"]}`: "budgets",
		`{"name":"k","rates":["61/min"]}`:                 "rates",
		`{"name":"k","rates":["1/fortnight"]}`:            "rates",
		`{"name":"k","concurrency":"6"}`:                  "concurrency",
		`{"name":"k","concurrency":"5 queue 3 1s"}`:       "concurrency",
		`{"name":"k","concurrency":"5 queue 2 2s"}`:       "concurrency",
		`{"name":"k","max_output_tokens":101}`:            "max_output_tokens",
	} {
		_, _, err := s.Create(t.Context(), b, "acme", mustEdit(t, true, body), "")
		wantCode(t, err, apierror.InvalidValue)
		if err != nil && apierror.From(err).Param != param {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, body := range []string{
		`{"name":"k","limit":10,"limit_reset":"daily"}`, `{"name":"k","limit":1000,"limit_reset":"monthly"}`, `{"name":"k","models":["a/x*","b/one"]}`,
		`{"name":"k","scopes":["chat:write"],"rates":["60/min","1000/day"],"concurrency":5,"budgets":["1usd/day","1k tokens/day soft"],"max_output_tokens":100}`,
	} {
		create(t, s, b, body)
	}
	key, _ := create(t, s, b, `{"name":"k"}`)
	_, err := s.Update(t.Context(), b, acme, key.Hash(), mustEdit(t, false, `{"rates":["61/min"]}`))
	wantCode(t, err, apierror.InvalidValue)
}

func TestABlockHasOneKeyToAMillion(t *testing.T) {
	for most, ok := range map[int]bool{0: false, 1: true, runtimekeys.MostMax: true, runtimekeys.MostMax + 1: false} {
		if err := block(func(b *runtimekeys.Block) { b.Max, b.Limits.Name = most, "runtime_keys" }).Check(); (err == nil) != ok {
			t.Errorf("max %d: %v", most, err)
		}
	}
}

func TestANewBlockBoundsTheKeysThatExist(t *testing.T) {
	s, _ := open(t, new(memory))
	_, secret := create(t, s, block(func(b *runtimekeys.Block) { b.Scopes |= keys.ActivityRead }),
		`{"name":"k","limit":100,"limit_reset":"daily","budgets":["50usd/week soft"],"scopes":["chat:write","activity:read"],"models":["a/*","c/*"],"rates":["100/min"],"concurrency":"9 queue 9 9s","max_output_tokens":500}`)
	credential, own, err := s.Authenticate(block(narrow), secret, noon)
	if err != nil {
		t.Fatal(err)
	}
	if credential.Scopes != keys.ChatWrite || !credential.AllowsModel("a/x") || credential.AllowsModel("c/x") || credential.AllowsModel("b/one") ||
		!credential.AllowsProvider("a") || credential.AllowsProvider("c") {
		t.Errorf("the key has %s", credential.Scopes)
	}
	if own.Caps.Output != 100 || own.Subjects[0].Rates[0].Limit != 60 || own.Subjects[0].Concurrency != (limits.Concurrency{Limit: 5, Queue: 2, Wait: time.Second}) {
		t.Errorf("limits %+v", own)
	}
	want := []string{"1000 tokens/day soft", "10usd/day", "50usd/week soft"}
	if got := slices.Sorted(maps.Keys(budgets(own))); !slices.Equal(got, want) {
		t.Errorf("budgets %q, want %q", got, want)
	}
	counted := 0
	for _, b := range own.Subjects[0].Budgets {
		if b.Unit == limits.Money {
			counted++
		}
	}
	if counted != 4 {
		t.Errorf("the key is counted in %d periods", counted)
	}
}

func TestTheMembersOfABody(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(nil)
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "0e99": 0, "1": 1e9, "2.5": 25e8, "1e-09": 1, "1E-9": 1, "0.1234567891": 123456790, "1e-400": 1, "5e-10": 1, "12e3": 12e12, "9e9": 9e18,
	} {
		key, _ := create(t, s, b, `{"name":"k","limit":`+text+`}`)
		if *key.Limit != want {
			t.Errorf("limit %s is %d, want %d", text, *key.Limit, want)
		}
	}
	for text, want := range map[string]string{
		`"2027-01-01T00:00:00Z"`: "2027-01-01T00:00:00Z", `"2027-01-01T00:00:00"`: "2027-01-01T00:00:00Z", `"2027-01-01T00:00:00.250+00:00"`: "2027-01-01T00:00:00.25Z",
	} {
		key, _ := create(t, s, b, `{"name":"k","expires_at":`+text+`}`)
		if got := key.Expires.Format(time.RFC3339Nano); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
	for body, param := range map[string]string{
		`{"name":""}`: "name", `{"name":null}`: "name", `{"name":1}`: "name", `{"name":"` + strings.Repeat("x", 257) + `"}`: "name",
		`{"limit":-1}`: "limit", `{"limit":-1e-400}`: "limit", `{"limit":"1"}`: "limit", `{"limit":1e400}`: "limit", `{"limit":1e10}`: "limit", `{"limit":[]}`: "limit",
		`{"limit_reset":"hourly"}`: "limit_reset", `{"limit_reset":1}`: "limit_reset",
		`{"expires_at":"2027-01-01T00:00:00+02:00"}`: "expires_at", `{"expires_at":"2026-05-04T12:00:00Z"}`: "expires_at", `{"expires_at":"soon"}`: "expires_at",
		`{"include_byok_in_limit":"no"}`: "include_byok_in_limit", `{"creator_user_id":"` + strings.Repeat("x", 129) + `"}`: "creator_user_id",
		`{"external":{"user":"u","api_key":"k"}}`: "external", `{"external":1}`: "external", `{"workspace_id":"other"}`: "workspace_id",
		`{"models":[""]}`: "models", `{"models":"a"}`: "models", `{"metadata":{"a":1}}`: "metadata", `{"max_output_tokens":0}`: "max_output_tokens", `{"concurrency":""}`: "concurrency",
	} {
		_, err := edit(t, true, body)
		if err == nil || apierror.From(err).Param != param {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, c := range []struct {
		create bool
		name   string
	}{{true, "disabled"}, {true, "hash"}, {false, "workspace_id"}, {false, "external"}, {false, "creator_user_id"}} {
		if known, _ := runtimekeys.NewEdit(c.create, "", noon).Member(c.name, []byte("null")); known {
			t.Errorf("%s is taken (create: %t)", c.name, c.create)
		}
	}
}

func TestNullTakesASettingAwayAndAbsenceKeepsIt(t *testing.T) {
	s, _ := open(t, new(memory))
	b := block(nil)
	first, _ := create(t, s, b, `{"name":"k","limit":1,"limit_reset":"daily","expires_at":"2027-01-01T00:00:00Z","models":["a/*"],"metadata":{"a":"b"}}`)
	same := update(t, s, b, first.Hash(), `{}`)
	if *same.Limit != 1e9 || same.Reset != "daily" || same.Expires.IsZero() || len(same.Models) != 1 {
		t.Errorf("%+v", same)
	}
	none := update(t, s, b, first.Hash(), `{"limit":null,"limit_reset":null,"expires_at":null,"models":null,"metadata":null}`)
	if none.Limit != nil || none.Reset != "" || !none.Expires.IsZero() || none.Extensions != nil {
		t.Errorf("%+v", none)
	}
	if first.Models[0] != "a/*" || same.Metadata["a"] != "b" {
		t.Error("a version has changed")
	}
}
