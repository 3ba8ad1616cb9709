package core

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestParseMoment(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2027-01-31":                time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
		"2027-01-31T18:00:00Z":      time.Date(2027, 1, 31, 18, 0, 0, 0, time.UTC),
		"2027-01-31T18:00:00+02:00": time.Date(2027, 1, 31, 16, 0, 0, 0, time.UTC),
	} {
		if got, err := parseMoment(text); err != nil || !got.Equal(want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "tomorrow", "2027-13-01", "31.01.2027", "2027-01-31 18:00"} {
		if _, err := parseMoment(text); err == nil || !strings.Contains(err.Error(), "want a date") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"512MiB": 512 << 20, "10GB": 10e9, "1 KiB": 1 << 10, "4096": 4096} {
		if got, err := caddykit.ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "0MB", "-1MB", "much", "8EiB"} {
		if _, err := caddykit.ParseSize(text); err == nil || !strings.Contains(err.Error(), "want bytes with a unit") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTimeoutsTakeDefaultsFieldByField(t *testing.T) {
	got, err := Timeouts{Idle: caddy.Duration(time.Second), FirstByte: 2, Call: 3}.resolve()
	want := modelcall.DefaultTimeouts
	want.Idle, want.FirstByte, want.Call = time.Second, 2, 3
	if err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := (Timeouts{Heartbeat: -1}).resolve(); !errors.Is(err, errNegative) || !strings.Contains(err.Error(), "heartbeat") {
		t.Errorf("error %v", err)
	}
}

func TestTimeoutsOfAProviderAreRefusedIfNegativeOrOfNoModel(t *testing.T) {
	got, err := ProviderTimeouts{Connect: 1, AnswerTimeouts: AnswerTimeouts{FirstByte: 2, Whole: 3, Idle: 4, Call: 5}}.resolve()
	if want := (provider.Timeouts{Connect: 1, FirstByte: 2, Whole: 3, Idle: 4, Call: 5}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, timeouts := range []ProviderTimeouts{{Connect: -1}, {AnswerTimeouts: AnswerTimeouts{Whole: -1}}} {
		if _, err := timeouts.resolve(); !errors.Is(err, errNegative) {
			t.Errorf("%+v: %v", timeouts, err)
		}
	}
	for want, m := range map[string]ModelTimeouts{
		"no models are given": {}, "pattern is empty": {Models: []string{""}}, "negative": {Models: []string{"m"}, AnswerTimeouts: AnswerTimeouts{Call: -1}},
	} {
		p := Provider{ModelTimeouts: []ModelTimeouts{m}}
		if _, err := p.modelTimeouts(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
	}
}

func TestOnlyTheHTTPTransportIsTaken(t *testing.T) {
	if raw, err := withoutProtocol([]byte(`{"protocol":"http","compression":false}`)); err != nil || string(raw) != `{"compression":false}` {
		t.Errorf("got %s, %v", raw, err)
	}
	for _, raw := range []string{`{"protocol":"fastcgi"}`, `{}`, `[]`, `{`} {
		if _, err := withoutProtocol([]byte(raw)); err == nil {
			t.Errorf("%s was accepted", raw)
		}
	}
}
