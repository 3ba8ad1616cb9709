package valkey

import (
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Gateways tell each other of each slot that is free. A gateway with calls of many subjects must not look
// through all of them each time.
func TestAnEventOfASubjectLooksAtNoOther(t *testing.T) {
	s := newSlots(limits.NewConcurrencyLimiter(), func() {})
	var demand limits.Demand
	for i := range 20_000 {
		name := strconv.Itoa(i)
		s.shares[name] = &share{of: s, subject: name, demand: &demand}
	}
	took := func(subject string, times int) time.Duration {
		began := time.Now()
		for range times {
			s.recheck(subject)
		}
		return time.Since(began)
	}
	all := took("", 100)
	if one := took("7", 1000); one > all {
		t.Errorf("1,000 events of one subject take %v, 100 of all take %v", one, all)
	}
	if wants := s.changes(10); len(wants) != 1 || wants[0].Subject != "7" {
		t.Errorf("%+v", wants)
	}
}
