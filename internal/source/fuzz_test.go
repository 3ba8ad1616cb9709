package source

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

// What a control plane answers is its own; only what is whole and within bounds may be an "allow".
func FuzzAnAnswerIsWithinItsBounds(f *testing.F) {
	for _, seed := range []string{
		allowed, `{"decision":"deny","reason":"für\u0000"}`, `{"decision":"wait","retry_after":-1}`, `{"decision":"allow","address":"x","cache_seconds":9223372036854775807}`,
		`{"items":[{"workstation_id":"a"}],"next":"b"}`, `{}`, `[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := parseAnswer(body)
		var life time.Duration
		if err == nil {
			a, life, err = bounded(a)
		}
		if err == nil && (life < 0 || life > mostWait || len(a.Reason) > maxReason || strings.ContainsFunc(a.Reason, func(r rune) bool { return r < ' ' || r > '~' })) {
			t.Errorf("%v, reason %q, counts for %v", a, a.Reason, life)
		}
		if err == nil && a.Decision == guest.Allow && checkAllow(&a) != nil {
			t.Errorf("%v", checkAllow(&a))
		}
		if items, next, err := parseList(body); err != nil && (items != nil || next != "") {
			t.Errorf("%v, %q beside %v", items, next, err)
		}
	})
}
