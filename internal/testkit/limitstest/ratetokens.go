package limitstest

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func (r *rates) corrections() {
	s := rated(r.t, "key:a", "1000 tokens/min")
	less, _ := r.take(800, s)
	r.wantUsed(s, 800)
	less.Adjust(300)
	less.Adjust(0) // only the first call has an effect
	r.wantUsed(s, 300)
	r.pass(30 * time.Second)
	more, _ := r.take(100, s)
	more.Adjust(900)
	r.wantUsed(s, 1200)
	// 200 over: the first 300 must expire.
	if _, refusal := r.take(1, s); refusal == nil || refusal.RetryAfter != 31*time.Second || refusal.Never || refusal.Remaining != 0 {
		r.t.Errorf("after an overrun: %+v", refusal)
	}
	if _, refusal := r.take(1001, s); refusal == nil || !refusal.Never || refusal.RetryAfter != 0 {
		r.t.Errorf("more than the limit: %+v", refusal)
	}
	r.pass(31 * time.Second)
	r.wantUsed(s, 900)
}

func (r *rates) lateCorrections() {
	s := rated(r.t, "key:a", "1000 tokens/min")
	late, _ := r.take(600, s)
	r.pass(2 * time.Minute)
	marker, _ := r.take(5, s)
	late.Adjust(100) // gives nothing back: its slot has expired
	marker.Adjust(4) // comes behind it
	r.wantUsed(s, 4)
	r.pass(2 * time.Minute)
	stale, _ := r.take(600, s)
	r.pass(61 * time.Second) // the window's slots are all new
	marker, _ = r.take(500, s)
	stale.Adjust(0) // gives back nothing of another call
	marker.Adjust(499)
	r.wantUsed(s, 499)
	over, _ := r.take(1, s)
	r.pass(2 * time.Minute)
	over.Adjust(401) // more than was taken counts from now on
	r.wantUsed(s, 400)
}

func (r *rates) nothing() {
	s := rated(r.t, "key:a", "10 tokens/min")
	var none *limits.Grant
	none.Adjust(5)
	grant, _ := r.take(0, s)
	grant.Adjust(-5)
	grant, _ = r.take(1, s)
	grant.Adjust(3) // counts from now on
	r.wantUsed(s, 3)
	if grant, _ := r.take(7, s); grant == nil {
		r.t.Error("the limit itself is refused")
	}
	if grant, refusal := r.take(0, s); grant == nil {
		r.t.Errorf("nothing is refused: %+v", refusal)
	}
	if grant, _ := r.take(5, rated(r.t, "key:b", "1/min")); grant == nil {
		r.t.Error("no grant without a token rate")
	}
}
