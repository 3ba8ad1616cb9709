package sqlite_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestReadingARateCountsNothing(t *testing.T) {
	c := &clock{noon}
	r := rates(t, c.now)
	s := rated(t, "key:a", "5/min", "100 tokens/min", "9/h")
	for i, use := range r.ReadOne(s) {
		if use.Rate != s.Rates[i] || use.Used != 0 || use.Reset != 0 {
			t.Errorf("before the first call: %+v", use)
		}
	}
	for range 3 {
		if _, refusal := r.Ask([]limits.Subject{s}); refusal != nil {
			t.Fatal(refusal)
		}
	}
	if _, grant, _ := r.Take(10, []limits.Subject{s}); grant != nil {
		grant.Adjust(120) // calls under way can exceed a rate of tokens
	}
	for range 2 {
		uses := r.ReadOne(s)
		if uses[0].Used != 3 || uses[1].Used != 120 || uses[2].Used != 3 || uses[0].Reset != 61*time.Second || uses[2].Reset != 61*time.Minute {
			t.Errorf("%+v", uses)
		}
	}
	c.at = noon.Add(2 * time.Minute)
	if uses := r.ReadOne(s); uses[0].Used != 0 || uses[0].Reset != 0 || uses[2].Used != 3 {
		t.Errorf("after the minute: %+v", uses)
	}
}
